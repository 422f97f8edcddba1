"""What can be chosen, from the records that the command line uses; a process of its own, since the server is light."""

from __future__ import annotations

import json


def main() -> None:
    """Print the methods with their meanings as JSON."""
    from ramify.analysis.methods import MODEL_METHODS, RANKING_METHODS

    methods = {"rank": RANKING_METHODS, "fit": MODEL_METHODS, "compare": MODEL_METHODS}
    found = {
        command: [{"name": method.name, "meaning": method.meaning} for method in known.values()]
        for command, known in methods.items()
    }
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    main()
