"""`python -m remit`: the command line without its script."""

from remit.doors.cli import main

if __name__ == "__main__":
    main()
