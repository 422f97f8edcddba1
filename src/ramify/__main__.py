"""``python -m ramify``: the command, where its script is not on the path."""

from ramify.cli.main import main

if __name__ == "__main__":
    main()
