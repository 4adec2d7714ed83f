"""`python -m remit`: the command line without its script."""

from remit.cli import main

if __name__ == "__main__":
    main()
