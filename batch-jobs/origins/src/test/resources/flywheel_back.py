"""Fills an emulated Flywheel (fill), or prints what one has (read), with Flywheel's own client.

What a client cannot set is left out: ids, versions, times of records, origins, and the authors of notes."""

import hashlib
import json
import re
import sys

import flywheel

NOTED = re.compile(r"^\[\d{4}-\S* \S*\] ", re.S)


def fill(fw):
    fw.add_group({"_id": "lab", "label": "Lab 7T"})
    group = fw.get_group("lab")
    group.add_tag("mri")
    project = group.add_project(label="Study 研究", description="A study")
    project.update_info({"PI": "x", "nested": {"a": [1, 2.5, None, True], "空": ""}})
    project.add_tag("keep")
    project.add_note("first note")
    project.upload_file(flywheel.FileSpec("consent.txt", b"of the project", "text/plain"))
    subject = project.add_subject(label="sub-01", code="sub-01", sex="female", cohort="Control")
    subject.update_info({"handedness": "left"})
    subject.add_tag("pilot")
    session = subject.add_session(
        label="ses-1",
        timestamp="2026-01-05T18:00:00.123+09:00",
        timezone="Asia/Tokyo",
        uid="1.2.392.1",
        age=788940000,
        weight=61.5,
        operator="o",
    )
    session.update_info({"room": "7T-1"})
    session.add_tag("ok")
    session.add_note("moved once\nin run 2")
    session.upload_file(flywheel.FileSpec("protocol.pdf", b"%PDF " * 99, "application/pdf"))
    names = ["a b \"x\".dicom.zip", "空間.nii.gz"]
    runs = []
    for number in (1, 2):
        run = session.add_acquisition(label="run/1 ~x", uid="1.2.392.1.%d" % number, timestamp="2026-01-05T09:0%d:00Z" % number)
        for name in names:
            run.upload_file(flywheel.FileSpec(name, name.encode() * 40_000 * number, "application/zip"))
            run.update_file(name, type="dicom", modality="MR")
            run.replace_file_classification(name, {"Intent": ["Structural"], "Measurement": ["T1"]}, modality="MR")
            run.update_file_info(name, {"EchoTime": 0.03 * number, "header": {"dicom": {"Rows": 256}}})
            fw.add_file_tags(run.reload().get_file(name).file_id, ["qa-%d" % number])
        run.update_info({"number": number})
        runs.append(run.reload())
    runs[0].upload_file(flywheel.FileSpec("empty.txt", b"", "text/plain"))
    inputs = [run.get_file(name).ref() for run in runs for name in names]
    for label in ("fit", "fit"):
        analysis = session.add_analysis(label=label, description="glm", inputs=inputs, info={"p": 0.05})
        analysis.upload_output(flywheel.FileSpec("out.csv", b"1,2,3\n" * 500, "text/csv"))
        analysis.add_tag("final")
        analysis.add_note("looks fine")
    run = runs[1].add_analysis(label="qc", description="", inputs=inputs[2:3])
    run.upload_output(flywheel.FileSpec("qc.json", b"{}", "application/json"))


def plain(value):
    return json.loads(json.dumps(value.to_dict() if hasattr(value, "to_dict") else value, default=str, sort_keys=True))


def files(container):
    told = []
    for file in container.files or []:
        entry = container.get_file(file.name)
        content = container.read_file(file.name)
        told.append(
            {
                "name": entry.name,
                "size": entry.size,
                "hash": entry.hash,
                "sha384": hashlib.sha384(content).hexdigest(),
                "type": entry.type,
                "modality": entry.modality,
                "classification": plain(entry.classification),
                "info": plain(entry.info),
                "tags": sorted(entry.tags),
            }
        )
    return sorted(told, key=lambda each: each["name"])


def shown(container, *fields):
    container = container.reload()
    told = {field: str(container.get(field)) for field in ("label",) + fields}
    told["tags"] = sorted(container.tags)
    told["info"] = plain(container.get("info"))
    told["notes"] = sorted(NOTED.sub("", note.text) for note in container.get("notes") or [])
    if container.container_type != "group":
        told["files"] = files(container)
    return told


def analyses(fw, kind, container):
    told = []
    for found in getattr(fw, "get_%s_analyses" % kind)(container.id):
        one = shown(fw.get_analysis(found.id), "description")
        one["inputs"] = sorted((each.name, each.size, each.parent_ref.type) for each in fw.get_analysis(found.id).inputs)
        told.append(one)
    return sorted(told, key=lambda each: json.dumps(each))


def read(fw):
    told = []
    for group in fw.groups.iter():
        told.append({"group": group.id, "label": fw.get_group(group.id).label, "tags": sorted(fw.get_group(group.id).tags)})
        for project in group.projects.iter():
            told.append({"project": shown(project, "description")})
            for subject in project.subjects.iter():
                told.append({"subject": shown(subject, "code", "sex", "cohort")})
                for session in subject.sessions.iter():
                    one = shown(session, "timestamp", "timezone", "uid", "age", "weight", "operator")
                    told.append({"session": one, "analyses": analyses(fw, "session", session)})
                    for run in sorted(session.acquisitions.iter(), key=lambda each: each.uid):
                        one = shown(run, "timestamp", "uid")
                        told.append({"acquisition": one, "analyses": analyses(fw, "acquisition", run)})
    print(json.dumps(told, indent=1, sort_keys=True))


client = flywheel.Client(sys.argv[2])
fill(client) if sys.argv[1] == "fill" else read(client)
