"""The command `ramify app`: the whole flow on a page, without a terminal."""

from __future__ import annotations

import click

from ramify.cli.options import WholeNumber
from ramify.cli.terminal import plain


@click.command()
@click.argument("data", nargs=-1, type=click.Path())
@click.option(
    "--port", default=0, show_default="one that is free", type=WholeNumber(0, 65535), help="Port to listen on."
)
@click.option("--keep", default=None, type=click.Path(file_okay=False),
              help="Folder that keeps files and runs for a later session [default: a private one].")  # fmt: skip
@click.option("--no-browser", is_flag=True, help="Print the address and open no browser.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but the address and errors.")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def app(data: tuple[str, ...], port: int, keep: str | None, no_browser: bool, quiet: bool) -> None:
    """Do all of this on a page in the browser: drop a table, choose a target, rank, fit, compare, predict, take away.

    DATA are files to begin with. Only this machine can open the page, by the token in its address; nothing leaves the
    machine, and what is written is in a private folder that is removed at the end. Runs are commands of Ramify, and
    the page shows each as it would be typed. Ctrl-C, or Stop in the page, ends it.

    \b
    Examples:
      ramify app
      ramify app songs.csv
      ramify app genes.csv go.obo --keep study
    """  # noqa: D301
    import signal
    import webbrowser

    from ramify.app import serve
    from ramify.app.session import opened

    def show(address: str, once: str) -> None:
        click.echo(plain(address))
        if not quiet:
            click.echo("Open this address if no browser did; Ctrl-C ends Ramify.", err=True)
        if not no_browser:
            webbrowser.open(once)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with opened(keep) as session:
        for file in data:
            session.take(file)
        for name in ("SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), stop)
        try:
            serve(session, port=port, opened=show)
        except KeyboardInterrupt:
            if not quiet:
                click.echo("Stopped.", err=True)
