"""Makes the site fit for the service's Content-Security-Policy, which allows no scripts in pages, and drops what nobody asks for."""

import hashlib
import re
import shutil
from importlib.metadata import files
from pathlib import Path

from mkdocs.utils import get_relative_url

SCRIPT = re.compile(r'<script>(.+?)</script>', re.DOTALL)
UNUSED = ('404.html', 'sitemap.xml.gz', '**/*.map')

scripts = {}


def on_post_page(output, page, config):
    def moved(found):
        name = f'assets/javascripts/{hashlib.sha256(found[1].encode()).hexdigest()[:8]}.js'
        scripts[name] = found[1]
        return f'<script src="{get_relative_url(name, page.url)}"></script>'

    return SCRIPT.sub(moved, output)


def on_post_build(config):
    site = Path(config.site_dir)
    for name, text in scripts.items():
        (site / name).write_text(text)
    # The choice of a language asks for each language's list of pages.
    for language in site.glob('ja'):
        shutil.copy(site / 'sitemap.xml', language)
    licence = next(each for each in files('mkdocs-material') if str(each).endswith('.dist-info/licenses/LICENSE'))
    shutil.copy(licence.locate(), site / 'assets' / 'LICENSE')
    for pattern in UNUSED:
        for file in site.glob(pattern):
            file.unlink()
