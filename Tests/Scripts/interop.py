"""Runs a script that needs other people's libraries, and names the import that fails.

usage: interop.py SCRIPT [ARGUMENT …]          exits with 3 where an import fails, else as the script does
"""

import runpy
import sys
from pathlib import Path

script = Path(sys.argv[1])
del sys.argv[0]
sys.path[0] = str(script.parent)
try:
    runpy.run_path(str(script), run_name="__main__")
except ImportError as missing:
    print(f"{script.name}: {missing}", file=sys.stderr)
    sys.exit(3)
