"""`python -m remit`: the command line without the script."""

from remit.cli import main

if __name__ == "__main__":
    main()
