"""What the checks know of Markdown."""
import collections, re


def split_fences(text):
    """The parts of a text: those with an odd index are blocks of code, with their fences."""
    return re.split(r"(^```.*?^```$)", text, flags=re.S | re.M)


def slug(heading):
    """The anchor that git hosts give to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(text):
    """The anchors of all headings of a page. From the second heading with the same text on, they are numbered."""
    count, found = collections.Counter(), set()
    for heading in re.findall(r"^#+ (.*)$", "".join(split_fences(text)[::2]), re.M):
        anchor = slug(heading)
        found.add(f"{anchor}-{count[anchor]}" if count[anchor] else anchor)
        count[anchor] += 1
    return found


def links(text):
    """Where the links and the images of a page lead to."""
    prose = re.sub(r"`[^`]*`", "", "".join(split_fences(text)[::2]))
    return re.findall(r"\]\(\s*([^)\s]+)[^)]*\)", prose)
