"""Pictures of every page for a person to look at: 360 and 1,280 pixels, light and dark, English and Chinese.

usage: screenshots.py FOLDER [PAGE …]       with the server's binary in PAYDESK
"""

from __future__ import annotations

import sys
from pathlib import Path

from engines import DESKTOP, PHONE
from harness import chromium, desk
from states import OTHERS, SESSIONS, make

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
engine = chromium()
for name in sys.argv[2:] or SESSIONS + OTHERS:
    for locale in ["en", "zh-Hans"]:
        engine.speak(locale)
        page = make(desk(), name, locale)
        engine.open(page.url, page.state, page.ready)
        for width, height in [PHONE, DESKTOP]:
            engine.resize(width, height)
            for dark in [False, True]:
                engine.theme(dark)
                engine.whole(folder / f"{name}-{width}-{'dark' if dark else 'light'}-{locale}.png")
print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")
