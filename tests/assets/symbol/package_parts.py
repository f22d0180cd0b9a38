# slice tree: tree("<a><b/></a>")
# without tree: other
import xml
import xml.dom
from xml.etree import ElementTree as parser
import xml.sax.saxutils


def other():
    return xml.dom


def tree(text):
    return xml.sax.saxutils.escape(parser.fromstring(text)[0].tag + "<")
