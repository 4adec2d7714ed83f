"""The hook's entry: the program that a harness starts on every event.

    remit hook HARNESS          or, quicker:  python -I -S …/remit/hooks/entry.py HARNESS

It finds the package and starts `main`, because Python compiles the file that it is started with again each time.
"""

import os
import sys

if __name__ == "__main__" and "remit" not in sys.modules:  # started as a file, without the folders of the site
    _PARTS = os.path.abspath(__file__).split("/")
    _SITE = f"{os.path.dirname(os.path.dirname(sys.executable))}/lib/python3.{sys.version_info[1]}/site-packages"
    sys.path += ["/".join(_PARTS[:-3]), *([_SITE] if os.path.isdir(_SITE) else ())]

from remit.hooks.main import main

if __name__ == "__main__":
    main(sys.argv[1:])
