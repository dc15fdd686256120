"""`python -m companion_app`."""

from companion_app.cli import main

main()
