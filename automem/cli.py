"""The command line: ``automem serve``, ``doctor``, ``settings``, ``version``."""

from __future__ import annotations

import sys

import click

from automem.config import Settings, load_settings
from automem.errors import StartupError
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


def _settings(host: str | None, port: int | None, data_dir: str | None) -> Settings:
    try:
        return load_settings(automem_host=host, port=port, automem_data_dir=data_dir)
    except StartupError as error:
        click.echo(f"AutoMem cannot start: {error.message}", err=True)
        sys.exit(1)
