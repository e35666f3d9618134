"""Write tests/golden/boxes.ttf: a font whose every small letter is a box, so that the tests of pictures need none of the machine's.

usage: make_test_font.py (needs fonttools)
"""
import pathlib
import string

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests/golden/boxes.ttf"


def box(left, right):
    pen = TTGlyphPen(None)
    pen.moveTo((left, 0))
    for point in ((left, 600), (right, 600), (right, 0)):
        pen.lineTo(point)
    pen.closePath()
    return pen.glyph()


names = [".notdef", *string.ascii_lowercase]
font = FontBuilder(1000, isTTF=True)
font.setupGlyphOrder(names)
font.setupCharacterMap({ord(name): name for name in names[1:]})
font.setupGlyf({name: box(50, 450) for name in names})
font.setupHorizontalMetrics({name: (500, 50) for name in names})
font.setupHorizontalHeader(ascent=800, descent=-200)
font.setupNameTable({"familyName": "Boxes", "styleName": "Regular", "psName": "Boxes-Regular"})
font.setupOS2(sTypoAscender=800, sTypoDescender=-200, usWinAscent=800, usWinDescent=200)
font.setupPost()
# The time of making would make other bytes each time.
font.font.recalcTimestamp = False
font.updateHead(created=0, modified=0)
font.save(OUT)
