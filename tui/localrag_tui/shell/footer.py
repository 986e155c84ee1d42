"""The keys below a screen: as many of them as can be shown whole."""

from textual import events
from textual.widgets import Footer
from textual.widgets._footer import FooterKey


class KeyBar(Footer):
    """Textual's own, whose last keys give way where there is no room for all.

    The first one, which shows the help with all of them, stays.
    """

    def on_resize(self, event: events.Resize) -> None:
        """Show what there is room for now."""
        del event
        self._fit()

    async def recompose(self) -> None:
        """Show the keys of what has the focus now."""
        await super().recompose()
        self._fit()

    def _fit(self) -> None:
        if not self.size.width:
            return  # It is told of its size soon.
        keys = list(self.query(FooterKey))
        palette = [key for key in keys if key.has_class("-command-palette")]
        first = [key for key in keys if key.key == "f1"]
        others = [key for key in keys if key not in palette and key not in first]
        left = self.size.width
        for key in (*first, *others, *palette):
            left -= _width(key)
            key.display = left >= 0 or key in first


def _width(key: FooterKey) -> int:
    # The padding of the key and of its description, and the line before that of the palette.
    return key.render().cell_len + 2 * key.has_class("-command-palette")
