"""Prints what Flywheel's own Python client reads of some containers: KEY, then KIND ID for each."""
import json
import sys

import flywheel

fw = flywheel.Client(sys.argv[1])


def entry(file):
    return {
        "name": file.name,
        "hash": file.hash,
        "size": file.size,
        "type": file.type,
        "modality": file.modality,
        "version": file.version,
        "tags": list(file.tags or []),
        "classification": dict(file.classification or {}),
        "info": dict(file.info or {}),
    }


def container(kind, found):
    if kind == "group":
        return {"label": found.label}
    return {
        "label": found.label,
        "info": dict(found.info or {}),
        "tags": list(found.tags or []),
        "notes": [note.text for note in found.notes or []],
        "files": {file.file_id: entry(file) for file in found.files or []},
    }


wanted = zip(sys.argv[2::2], sys.argv[3::2])
print(json.dumps({i: container(kind, getattr(fw, "get_" + kind)(i)) for kind, i in wanted}))
