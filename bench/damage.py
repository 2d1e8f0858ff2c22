"""Healthy files of many formats, and seeded damages of them with what any rule can know of each.

Written from the formats' standards, not from Dozo's checkers: an `Anatomy` says where a file has redundancy, and so decides the class
of a damage before anything is measured.
"""

import gzip
import io
import math
import os
import random
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

# A rule of the format fails; a rule fails that needs another file, too; healthy files look like this; no rule can know.
CERTAIN, ACROSS, HINT, NOBODY = 'certain', 'across files', 'hint', 'no rule can know'
KINDS = ('cut', 'flip', 'lost', 'zeroed', 'length', 'swapped', 'missing')
PAGE = 4096
BOTH = CERTAIN, CERTAIN


@dataclass(frozen=True)
class Anatomy:
    """The first `known` bytes identify the format; the rules want `needed`. Ranges are (start, end)."""

    known: int
    needed: int
    guarded: tuple = ()  # a flipped byte in these ranges breaks a rule
    structure: tuple = ()  # so do zeros here
    borders: frozenset = frozenset()  # a cut here looks like a healthy file
    lengths: tuple = ()  # (offset, struct code, class if larger, class if smaller)
    lost: str = CERTAIN  # the class of a lost block
    short: str = CERTAIN  # the class of a cut


@dataclass(frozen=True)
class Sample:
    """A healthy file, `victim`, with those that belong to it. `kin`: the class if it is missing; empty: it has no kin."""

    format: str
    files: dict
    victim: str
    anatomy: object  # of bytes
    kin: str = ''

    @property
    def data(self):
        return self.files[self.victim]


@dataclass(frozen=True)
class Damage:
    format: str
    kind: str
    known: str
    files: dict
    victims: tuple
    note: str


def damages(samples, count, seed):
    """Returns damages: in turn of each format and kind."""
    dice = random.Random(seed)
    pairs = [(name, kind) for name in sorted({sample.format for sample in samples}) for kind in KINDS]
    made, number = [], 0
    while len(made) < count:
        name, kind = pairs[number % len(pairs)]
        sample = dice.choice([each for each in samples if each.format == name])
        damage = DAMAGES[kind](sample, sample.anatomy(sample.data), dice, samples)
        made += [damage] if damage else []
        number += 1
    return made


def changed(sample, kind, known, data, note):
    return Damage(sample.format, kind, known, {**sample.files, sample.victim: data}, (sample.victim,), note)


def of_length(anatomy, length):
    if length < anatomy.known or length in anatomy.borders:
        return HINT
    return anatomy.short if length < anatomy.needed else NOBODY


def touches(ranges, start, end):
    return CERTAIN if any(start < stop and begin < end for begin, stop in ranges) else NOBODY


def cut(sample, anatomy, dice, _):
    at = dice.randrange(1, len(sample.data))
    return changed(sample, 'cut', of_length(anatomy, at), sample.data[:at], f'at {at:,} of {len(sample.data):,}')


def flip(sample, anatomy, dice, _):
    at = dice.randrange(len(sample.data))
    data = bytearray(sample.data)
    data[at] ^= dice.randrange(1, 256)
    return changed(sample, 'flip', touches(anatomy.guarded, at, at + 1), bytes(data), f'byte {at:,}')


def lost(sample, anatomy, dice, _):
    size = len(sample.data)
    start = dice.randrange(size // 4, size // 2)
    end = start + dice.randint(1, min(size // 4, 16 * PAGE))
    known = of_length(anatomy, size - end + start)
    return changed(sample, 'lost', anatomy.lost if known == anatomy.short else known, sample.data[:start] + sample.data[end:], f'{start:,}–{end:,}')


def zeroed(sample, anatomy, dice, _):
    data = sample.data
    start = dice.choice([at for at in range(0, len(data), PAGE) if any(data[at : at + PAGE])])
    end = min(start + PAGE, len(data))
    lacks_mark = start == 0 and anatomy.known > 1
    known = HINT if lacks_mark else touches(anatomy.structure, start, end)
    return changed(sample, 'zeroed', known, data[:start] + bytes(end - start) + data[end:], f'page at {start:,}')


def length(sample, anatomy, dice, _):
    if not anatomy.lengths:
        return None
    at, code, larger, smaller = dice.choice(anatomy.lengths)
    end = at + struct.calcsize(code)
    value = struct.unpack(code, sample.data[at:end])[0]
    step = 2 * dice.randint(1, 100)
    other = value - step if value > step and dice.random() < 0.5 else value + step
    data = sample.data[:at] + struct.pack(code, other) + sample.data[end:]
    known = larger if other > value else smaller
    if smaller == NOBODY and sample.anatomy(data).needed <= len(data) or end + other in anatomy.borders:
        known = NOBODY  # the file has spare bytes, or the value includes its neighbours
    return changed(sample, 'length', known, data, f'{value:,} → {other:,} at {at:,}')


def swapped(sample, _, dice, samples):
    others = [each for each in samples if each.data != sample.data and each.victim != sample.victim]
    alike = [each for each in others if each.format == sample.format]
    other = dice.choice(alike if alike and dice.random() < 0.5 else others)
    fit = sorted(map(len, sample.files.values())) == sorted(map(len, other.files.values()))
    known = HINT if other.format != sample.format else ACROSS if len(sample.files) == 2 and not fit else NOBODY
    files = {**sample.files, **other.files, sample.victim: other.data, other.victim: sample.data}
    return Damage(sample.format, 'swapped', known, files, (sample.victim, other.victim), f'with {other.format}')


def missing(sample, *_):
    files = {name: data for name, data in sample.files.items() if name != sample.victim}
    return Damage(sample.format, 'missing', sample.kin, files, tuple(files), sample.victim) if sample.kin else None


DAMAGES = dict(zip(KINDS, (cut, flip, lost, zeroed, length, swapped, missing)))


def gzipped(data):
    rest = ((data.index(0, 10) + 1 if data[3] & 8 else 10, len(data)),)  # behind the name
    return Anatomy(2, len(data), rest, rest, lengths=((len(data) - 4, '<I', *BOTH),))


def zipped(data):
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        infos, central = file.infolist(), file.start_dir
    starts = [info.header_offset + 30 + sum(struct.unpack_from('<HH', data, info.header_offset + 26)) for info in infos]
    values = tuple((start, start + info.compress_size) for start, info in zip(starts, infos))
    return Anatomy(4, len(data), values, ((0, len(data)),), lengths=((central + 20, '<I', *BOTH), (central + 24, '<I', *BOTH)))


def elements(data):
    """Yields (start, value's start, length, group, length's place, its code) of a little-endian DICOM file; containers have length 0."""
    at, explicit, inside = 132, True, False
    while at + 8 <= len(data):
        tag, kind = struct.unpack_from('<HH', data, at), data[at + 4 : at + 6]
        if tag[0] > 2 and tag[0] != 0xFFFE and not inside:
            explicit = kind.isalpha()
        place, code = at + 4, '<I'
        if tag[0] != 0xFFFE and explicit:
            place, code = (at + 8, '<I') if kind in b'OB OD OF OL OV OW SQ SV UC UN UR UT UV'.split() else (at + 6, '<H')
        value, size = place + struct.calcsize(code), struct.unpack_from(code, data, place)[0]
        if size == 0xFFFFFFFF or explicit and kind == b'SQ' or tag == (0xFFFE, 0xE000) and not inside:
            size = 0
        yield at, value, size, tag[0], place, code
        inside = (inside or tag == (0x7FE0, 0x0010)) and tag != (0xFFFE, 0xE0DD)
        at = value + size


def dicom(data):
    found = list(elements(data))
    groups = [each[3] for each in found]
    first = groups.index(0xFFFE) - 1 if 0xFFFE in groups else len(found)
    # Up to the first sequence, then the images: below a sequence, a length may be that of a private one.
    flat = [each for i, each in enumerate(found) if each[3] > 2 and each[2] and (i < first or each[3] >= 0x7FE0 and each[2] > 64)]
    heads = tuple((each[0], each[1]) for each in found if each[0] > 132)
    borders = frozenset(start for start, _ in heads)
    return Anatomy(140, len(data), (), heads, borders, tuple((each[4], each[5], *BOTH) for each in flat))


def nifti(data):
    two = struct.unpack_from('<i', data)[0] == 540
    code, at, offset, bits = ('<q', 16, struct.unpack_from('<q', data, 168)[0], 14) if two else ('<h', 40, int(*struct.unpack_from('<f', data, 108)), 72)
    places = [at + struct.calcsize(code) * (1 + i) for i in range(struct.unpack_from(code, data, at)[0])]
    volume = math.prod(struct.unpack_from(code, data, place)[0] for place in places) * struct.unpack_from('<h', data, bits)[0] // 8
    return Anatomy(540 if two else 348, offset + volume, lengths=tuple((place, code, CERTAIN, NOBODY) for place in places))


def fiff(data):
    tags, at = [], 0
    while 0 <= at <= len(data) - 16:
        tags.append(at)
        size, after = struct.unpack_from('>ii', data, at + 8)
        at = after or at + 16 + size
    lengths = tuple((tag + 8, '>i4x', *BOTH) for tag in tags[2:-1])  # with the place of the next tag, which is 0
    return Anatomy(36, len(data), tuple((tag + 8, tag + 12) for tag in tags), tuple((tag, tag + 16) for tag in tags), frozenset(tags), lengths)


def kit(data):
    entries = [struct.unpack_from('<IiiI', data, 16 * i) for i in range(struct.unpack_from('<I', data, 12)[0])]
    samples = entries[8][0] + 16
    raw = entries[9][0] + 2 * struct.unpack_from('<i', data, entries[1][0] + 268)[0] * struct.unpack_from('<i', data, samples)[0]
    ends = [offset + size * items for i, (offset, size, _, items) in enumerate(entries) if i not in (0, 9, 10) and offset]
    return Anatomy(2048, max(raw, *ends), lengths=((samples, '<i', CERTAIN, NOBODY),))


def twix(data):
    heads, entry = [], 0
    for i in range(struct.unpack_from('<I', data, 4)[0]):
        entry = 16 + 152 * i
        offset, size = struct.unpack_from('<QQ', data, entry)
        at = offset + struct.unpack_from('<I', data, offset)[0]
        while not data[at + 40] & 1:
            heads.append(at)
            samples, channels = struct.unpack_from('<HH', data, at + 48)
            at += 192 + channels * (32 + 8 * samples)
    fields = tuple((head + 48, head + 52) for head in heads)
    return Anatomy(PAGE, offset + size, fields, fields, lengths=(*((head + 48, '<H', *BOTH) for head in heads), (entry + 8, '<Q', CERTAIN, NOBODY)))


def hdf5(data):
    old = data[8] == 0  # without checksums
    rule = (40, '<Q', CERTAIN, NOBODY) if old else (28, '<Q', *BOTH)
    return Anatomy(48, struct.unpack_from('<Q', data, rule[0])[0], () if old else ((9, 48),), lengths=(rule,))


def mat(data):
    rest = ((136, len(data)),)
    return Anatomy(128, len(data), rest, rest, lengths=((132, '<I', *BOTH),))


def text(end=b'', short=CERTAIN):
    """Returns the anatomy of text in which NULs are wrong, as is a cut before its last `end`; lost lines look like an edit."""
    return lambda data: Anatomy(1, data.rindex(end), (), ((0, len(data)),), short=short, lost=HINT)


def samples_of(shared):
    """Returns healthy samples from the shared data, and made ones; and the packages that are missing for others."""
    read = {str(file.relative_to(shared)): file.read_bytes() for file in sorted(Path(shared).rglob('*')) if file.is_file()}

    def real(name, anatomy, *words, ending='', kin=''):
        paths = [path for path in read if any(word in path for word in words) and path.endswith(ending) and read[path]]
        files = {os.path.basename(path): read[path] for path in paths}
        return [Sample(name, files if kin else {file: files[file]}, file, anatomy, kin) for file in files]

    volume = gzip.decompress(read['nifti/nibabel/example_nifti2.nii.gz'])
    found = [
        *real('DICOM', dicom, '01_Ax_DWI_TENSOR_R2', kin=HINT),
        *real('DICOM', dicom, 'MR_small_implicit', 'corasc35', 'dcm_qa_enh/Philips', 'fmri/201_EPI', ending=('01.dcm', 'implicit.dcm', '1', 'fMAP.dcm')),
        *real('DICOM compressed', dicom, 'axmb/'),
        *real('NIfTI-1', nifti, 'nifti/', ending='.nii'),
        *real('NIfTI gzip', gzipped, 'nifti/', ending='.nii.gz'),
        *real('MGZ', gzipped, 'nifti/', ending='.mgz'),
        *real('FIFF', fiff, 'meg/fif', ending=('_raw.fif', 'proj.fif')),
        *real('KIT', kit, 'test.sqd', 'test_umd-raw.sqd'),
        *real('JSON', text(b'}'), 'nifti/', ending='.json'),
        *real('TSV', text(short=HINT), 'bids/', ending='_events.tsv'),
        *real('PAR', text(b'# === END'), 'CLEAR_2_1.PAR', 'T2.PAR'),
        *map(pair, real('NIfTI-1', nifti, 'dcm_qa_enh/', ending='.nii')),
        *map(ctf, (3, 5)),
        Sample('NIfTI-2', {'volume.nii': volume}, 'volume.nii', nifti),
        *real('zip', zipped, 'DTI_132225/', ending='.xlsx'),
        Sample('TWIX', {'meas.dat': made_twix()}, 'meas.dat', twix),
        Sample('MATLAB', {'kspace.mat': made_mat(volume)}, 'kspace.mat', mat),
    ]
    try:
        import h5py
    except ImportError:
        return found, ['h5py (for HDF5)']
    return found + [Sample('HDF5', {f'{name}.h5': data}, f'{name}.h5', hdf5) for name, data in made_hdf5(h5py)], []


def pair(sample):
    name, offset = sample.victim[:-4], int(*struct.unpack_from('<f', sample.data, 108))
    head = sample.data[:108] + bytes(4) + sample.data[112:344] + b'ni1\0' + bytes(4)
    files = {f'{name}.hdr': head, f'{name}.img': sample.data[offset:]}
    return Sample('NIfTI .img', files, f'{name}.img', lambda data: Anatomy(0, len(data), short=ACROSS, lost=ACROSS), ACROSS)


def ctf(channels, samples=600, trials=4):
    head = bytearray(1846 + 1360 * channels + 2)
    struct.pack_into('>8s', head, 0, b'MEG42RS')
    struct.pack_into('>ih', head, 1288, samples, channels)
    struct.pack_into('>h', head, 1312, trials)
    files = {f'run{channels}.res4': bytes(head), f'run{channels}.meg4': b'MEG41CP\0' + random.Random(channels).randbytes(4 * samples * channels * trials)}
    return Sample('CTF .meg4', files, f'run{channels}.meg4', lambda data: Anatomy(8, len(data), short=ACROSS, lost=ACROSS), ACROSS)


def made_twix(scans=60, samples=64, channels=2):
    dice, body, size = random.Random(0), struct.pack('<I', 1024).ljust(1024, b'\0'), 192 + channels * (32 + 8 * samples)
    for scan in range(scans):
        head = struct.pack('<IiI', size, 1, scan).ljust(48, b'\0') + struct.pack('<HH', samples, channels)
        body += head.ljust(192, b'\0') + b''.join(bytes(32) + dice.randbytes(8 * samples) for _ in range(channels))
    body += (struct.pack('<I', 352).ljust(40, b'\0') + struct.pack('<Q', 1)).ljust(352, b'\0')
    body += bytes(-len(body) % 512)
    table = struct.pack('<II', 0, 2)
    for number in range(2):
        table += struct.pack('<IIQQ', number, number, 10_240 + number * len(body), len(body)) + b'head'.ljust(64, b'\0') + b'p'.ljust(64, b'\0')
    return table.ljust(10_240, b'\0') + body + body


def made_mat(values):
    element = lambda kind, value: struct.pack('<II', kind, len(value)) + value + bytes(-len(value) % 8)  # noqa: E731
    numbers = values[: len(values) // 8 * 8]
    matrix = element(6, struct.pack('<II', 6, 0)) + element(5, struct.pack('<ii', 1, len(numbers) // 8)) + element(1, b'kspace') + element(9, numbers)
    packed = zlib.compress(element(14, matrix))
    return b'MATLAB 5.0 MAT-file'.ljust(124) + struct.pack('<H2sII', 0x0100, b'IM', 15, len(packed)) + packed


def made_hdf5(h5py):
    for version in ('earliest', 'latest'):
        out = io.BytesIO()
        with h5py.File(out, 'w', libver=version) as file:
            file['kspace'] = range(8000)
        yield version, out.getvalue()
