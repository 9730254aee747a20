"""Pictures of every page and of the console for a person to look at: 360 and 1,280 pixels, light and dark, English and Chinese.

usage: screenshots.py FOLDER [PAGE …]       with the server's binary in PAYDESK
"""

from __future__ import annotations

import sys
from pathlib import Path

from console import SCREENS, Console, person
from engines import DESKTOP, PHONE
from harness import chromium, desk
from states import OTHERS, SESSIONS, make

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
engine = chromium()


def look(name: str, locale: str) -> None:
    """Takes the page that is open in each size and theme."""
    for width, height in [PHONE, DESKTOP]:
        engine.resize(width, height)
        for dark in [False, True]:
            engine.theme(dark)
            engine.whole(folder / f"{name}-{width}-{'dark' if dark else 'light'}-{locale}.png")


for name in [each for each in sys.argv[2:] if each != "console"] or ([] if sys.argv[2:] else SESSIONS + OTHERS):
    for locale in ["en", "zh-Hans"]:
        engine.speak(locale)
        page = make(desk(), name, locale)
        page.open(engine)
        look(name, locale)

if not sys.argv[2:] or "console" in sys.argv[2:]:
    order = desk().paid("ann")["order_id"]
    for locale in ["en", "zh-Hans"]:
        console = Console(engine, desk()).enter(desk().admin, language=locale)
        places = {name: f"#/{name}" for name in SCREENS} | {"order": f"#/orders/{order}", "person": person("ann"), "sku": "#/catalogue/vip_month"}
        for name, address in places.items():
            console.go(address, name)
            look(f"console-{name}", locale)
print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")
