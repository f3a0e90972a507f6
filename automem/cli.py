"""The command line: ``automem serve``, ``doctor``, ``reembed``, ``settings``, ``version``."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Any

import click

from automem.config import Settings, load_settings
from automem.errors import AutoMemError, StartupError
from automem.utils.version import package_version


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """AutoMem: long-term memory for AI agents.

    Every setting is an environment variable or a line of .env; `automem settings` lists them.
    """


@main.command()
@click.option("--host", help="Address to listen on (AUTOMEM_HOST).")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on (PORT).")
@click.option("--data-dir", type=click.Path(file_okay=False), help="Data directory (AUTOMEM_DATA_DIR).")
def serve(host: str | None, port: int | None, data_dir: str | None) -> None:
    """Run the service until Ctrl-C or SIGTERM."""
    # Imported here: the other commands do not need the server and its engines.
    from automem.server import serve as run

    sys.exit(run(_settings(host, port, data_dir)))


@main.command()
@click.option("--host", help="Address that would be listened on (AUTOMEM_HOST).")
@click.option("--port", type=click.IntRange(1, 65535), help="Port that would be listened on (PORT).")
@click.option("--data-dir", type=click.Path(file_okay=False), help="Data directory (AUTOMEM_DATA_DIR).")
def doctor(host: str | None, port: int | None, data_dir: str | None) -> None:
    """Check everything that the service needs, and say how to mend what is wrong."""
    from automem.doctor import examine, written

    findings = examine(_settings(host, port, data_dir))
    click.echo(written(findings))
    sys.exit(0 if all(finding.good for finding in findings) else 1)


@main.command()
@click.option("--data-dir", type=click.Path(file_okay=False), help="Data directory (AUTOMEM_DATA_DIR).")
@click.option(
    "--batch-size",
    type=click.IntRange(1, 100),
    default=32,
    show_default=True,
    help="Texts embedded in a call.",
)
def reembed(data_dir: str | None, batch_size: int) -> None:
    """Make all vectors anew with the model of the settings; so a change of the model is done.

    Stop the service before. The old vectors stay until all new ones are made; interrupted, run it again.
    """
    from automem.reembed_command import reembed as run

    bar = ProgressBar()
    try:
        result = run(_settings(None, None, data_dir), batch_size, bar)
    except AutoMemError as error:
        bar.end()
        again = "" if isinstance(error, StartupError) else ". Run it again to go on where it was"
        click.echo(f"AutoMem cannot re-embed: {error.message}{again}", err=True)
        sys.exit(1)
    bar.end()
    click.echo(f"{result.total} memories are embedded with {result.model}.")
    if result.failed:
        click.echo(f"{result.failed} of them could not be; the service tries these again.")


@main.command()
@click.option(
    "--format", "form", type=click.Choice(["env", "markdown"]), default="env", help="How to write them."
)
def settings(form: str) -> None:
    """List every setting with its default and meaning."""
    from automem.settings_docs import env_example, markdown_tables

    click.echo(env_example() if form == "env" else markdown_tables(), nl=False)


@main.command()
def version() -> None:
    """Print the version."""
    click.echo(package_version())


class ProgressBar:
    """Shows progress on the terminal; elsewhere only what begins."""

    def __init__(self) -> None:
        self._open = ExitStack()
        self._advance: Any = None

    def begin(self, label: str, total: int) -> None:
        bar = click.progressbar(length=total, label=label, show_pos=True, file=sys.stderr)
        self._advance = self._open.enter_context(bar)

    def advance(self, count: int) -> None:
        self._advance.update(count)

    def end(self) -> None:
        """Leave the line of the bar."""
        self._open.close()


def _settings(host: str | None, port: int | None, data_dir: str | None) -> Settings:
    try:
        return load_settings(automem_host=host, port=port, automem_data_dir=data_dir)
    except StartupError as error:
        click.echo(f"AutoMem cannot start: {error.message}", err=True)
        sys.exit(1)
