"""``python -m automem``."""

from automem.cli import main

main()
