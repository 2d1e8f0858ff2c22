#!/usr/bin/env python3
"""Checks a certificate of Dozo, without Dozo; docs/reference/certificate.md describes it. Needs Python 3.11 and OpenSSL 3."""

import argparse
import base64
import os
import re
import subprocess
import tempfile
from hashlib import file_digest, sha256
from pathlib import Path
from urllib.parse import unquote_to_bytes

CERTIFICATE = re.compile(rb'(Dozo certificate 1\n(?:[a-z-]+: [ -~]+\n)+key: ([0-9a-f]{88})\n)signature: ([0-9a-f]{128})\n')
SUCCESSION = re.compile('Dozo-Key: ([0-9a-f]{88}) ([0-9a-f]{88}) ([0-9TZ:-]+) ([0-9a-f]{128}) ([0-9a-f]{128})')
DER = bytes.fromhex('302a300506032b6570032100')
ROW = re.compile('([0-9]+) ([0-9a-f]{64}) [0-9TZ:.-]+')
NOTE = re.compile('(?s)(([!-~]+)\n([0-9]+)\n([A-Za-z0-9+/]{43}=)\n)\n((?:\u2014 [!-~]+ [A-Za-z0-9+/=]+\n)+)')
LINE = re.compile(rb'([fdl]) ([0-9]+) ([0-9a-f]{64}) [!-~]+ [!-~]+ ([!-~]+)\n')


def fingerprint(key):
    """Returns a key's SHA-256; `key` is that itself, or a file with the public key in PEM."""
    if re.fullmatch('[0-9a-fA-F]{64}', key):
        return key.lower()
    return sha256(base64.b64decode(Path(key).read_text().split('-----')[2])).hexdigest()


def signed(key, message, signature):
    """Returns whether the key, in DER, has signed the message."""
    with tempfile.TemporaryDirectory() as folder:
        command = ['openssl', 'pkeyutl', '-verify', '-pubin', '-keyform', 'DER', '-rawin']
        for option, content in ('-inkey', key), ('-in', message), ('-sigfile', signature):
            Path(folder, option).write_bytes(content)
            command += [option, f'{folder}/{option}']
        return not subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


def trusted(key, files):
    """Returns the fingerprint of a key, and of those before and after it that these files join to it: by the signatures of both."""
    known, pairs = {fingerprint(key)}, []
    for before, after, at, *signatures in (each for file in files for each in SUCCESSION.findall(Path(file).read_text())):
        keys = [bytes.fromhex(before), bytes.fromhex(after)]
        message = f'Dozo key 1\n{before} {after} {at}\n'.encode()
        if all(signed(own, message, bytes.fromhex(signature)) for own, signature in zip(keys, signatures)):
            pairs.append({sha256(own).hexdigest() for own in keys})
    for _ in pairs:
        known = known.union(*(pair for pair in pairs if pair & known))
    return known


def certified(path, keys):
    """Returns the certificate's fields, as pairs. Nothing in it counts before key and signature are checked."""
    found = CERTIFICATE.fullmatch(Path(path).read_bytes())
    if not found:
        raise ValueError('this is not a certificate, or it was changed')
    own, signature = (bytes.fromhex(found[part].decode()) for part in (2, 3))
    if sha256(own).hexdigest() not in keys:
        raise ValueError(f'the certificate has another key: {sha256(own).hexdigest()}, not {" or ".join(sorted(keys))}')
    if not signed(own, found[1], signature):
        raise ValueError('the signature is wrong: the certificate was changed')
    return [tuple(line.split(': ', 1)) for line in found[1].decode().splitlines()[1:]]


def cosigned(note, text, vkey):
    """Returns whether the note has a signature of its text by a verifier key, perhaps with a time."""
    name, identifier, key = vkey.split('+', 2)
    raw = base64.b64decode(key, validate=True)
    for line in note.splitlines():
        _, signer, value = line.split(' ')
        blob = base64.b64decode(value, validate=True)
        if signer == name and blob[:4].hex() == identifier == sha256(f'{name}\n'.encode() + raw).hexdigest()[:8]:
            time = int.from_bytes(blob[4:12])
            message = f'cosignature/v1\ntime {time}\n{text}' if raw[0] == 4 else text
            return signed(DER + raw[1:], message.encode(), blob[-64:])
    return False


def proven(path, fields, vkeys):
    """Returns the row, and the rows of the checkpoint that has it: by an inclusion proof (RFC 9162, 2.1.3.2) and all signatures."""
    head, note = Path(path).read_text(encoding='utf-8').split('\n\n', 1)
    version, index, *hashes = head.splitlines()
    text, _, size, tree_root, signatures = NOTE.fullmatch(note).groups()
    row = next((row for row in (ROW.fullmatch(fields.get(name, '')) for name in ('ledger', 'witnessed'))
                if row and f'index {int(row[1]) - 1}' == index), None)
    if row is None or version != 'c2sp.org/tlog-proof@v1':
        raise ValueError('the proof is of another row')
    for vkey in vkeys:
        if not cosigned(signatures, text, vkey):
            raise ValueError(f'the checkpoint has no valid signature by {vkey.split("+")[0]}')
    at, last, node = int(row[1]) - 1, int(size) - 1, sha256(b'\0' + bytes.fromhex(row[2])).digest()
    for other in (base64.b64decode(each) for each in hashes):
        if not last:
            raise ValueError('the proof is too long')
        if at & 1 or at == last:
            node = sha256(b'\1' + other + node).digest()
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            node = sha256(b'\1' + node + other).digest()
        at, last = at >> 1, last >> 1
    if last or base64.b64encode(node).decode() != tree_root:
        raise ValueError('the row is not in the checkpoint')
    return int(row[1]), int(size)


def listed(path, certified_root):
    """Returns kind, size and digest of each entry by its path, in bytes."""
    lines = Path(path).read_bytes().splitlines(keepends=True)
    entries = [LINE.fullmatch(line) for line in lines]
    if None in entries or root([sha256(b'\0' + line[:-1]).digest() for line in lines]).hex() != certified_root:
        raise ValueError('the list was changed, or belongs to another certificate')
    return {unquote_to_bytes(entry[4]): (entry[1], int(entry[2]), entry[3].decode()) for entry in entries}


def named(fields, paths):
    """Returns the fields; those of broken files, which have a line's number in the list, also with the path there."""
    return [(name, f'{value} ({str(paths[int(value.split()[0]) - 1])[2:-1]})' if name == 'broken-file' else value) for name, value in fields]


def root(leaves):
    """Returns the root of the Merkle tree of RFC 9162 over the hashes of the lines."""
    if len(leaves) < 2:
        return leaves[0] if leaves else b''
    left = 1 << (len(leaves) - 1).bit_length() - 1
    return sha256(b'\1' + root(leaves[:left]) + root(leaves[left:])).digest()


def there(top, below=b''):
    """Yields the same of everything in a folder."""
    for found in os.scandir(os.path.join(top, below)):
        path = os.path.join(below, found.name)
        if found.is_symlink():
            yield path, (b'l', 0, sha256(os.readlink(found.path)).hexdigest())
        elif found.is_dir():
            yield path, (b'd', 0, sha256().hexdigest())
            yield from there(top, path)
        elif found.is_file():
            with open(found.path, 'rb') as file:
                yield path, (b'f', found.stat().st_size, file_digest(file, 'sha256').hexdigest())
        else:
            yield path, 'neither file nor folder nor link'


def compared(entries, found, more):
    """Prints each entry that differs. Returns whether the copy is as certified, and what was read of it."""
    wrong = sorted(path for path in entries.keys() | found.keys() if entries.get(path) != found.get(path))
    extra = [path for path in wrong if path not in entries]
    missing = sum(path not in found for path in wrong)
    for path in [path for path in wrong if path in entries or not more]:
        print(f'{str(path)[2:-1]}: certified {entries.get(path)}, found {found.get(path)}')
    files = sum(kind == b'f' for kind, *_ in found.values())
    counts = {'differ': len(wrong) - len(extra) - missing, 'missing': missing, 'extra': len(extra)}
    good = len(wrong) == len(extra) if more else not wrong
    parts = [f'{count} {word}' for word, count in counts.items() if count]
    if good:
        parts = ['all equal' if not extra else 'all certified ones equal', *parts]
    return good, f'{files} {"file" if files == 1 else "files"} read, {", ".join(parts)}'


def main():
    parser = argparse.ArgumentParser(epilog='Exit code 0: certificate, list and copy are as certified; 3: certificate and list are, no copy '
                                            'was read; 4: the certificate is genuine, nothing else was read; 1: something is not as '
                                            'certified; 2: it cannot be checked.')
    parser.add_argument('key', help='the public key that you kept: a PEM file, or its SHA-256 fingerprint')
    parser.add_argument('certificate')
    parser.add_argument('list', nargs='?', help='without it, only the certificate is checked')
    parser.add_argument('copy', nargs='?', help='the folder data of the bag at the site, or a restored folder; without it, no copy is read')
    parser.add_argument('--more', action='store_true', help='allows more in the copy: a bag keeps what the source deleted')
    parser.add_argument('--keys', action='append', default=[], metavar='FILE',
                        help='what dozo certificate-key prints: also accepts keys before and after KEY that it joins to KEY')
    parser.add_argument('--proof', help='proves that the row of the ledger in the certificate is in a checkpoint')
    parser.add_argument('--vkey', action='append', default=[], help='a verifier key, of the log or a witness, that must have signed it')
    asked = parser.parse_args()
    read, good, code, result = 'certificate', True, 4, 'genuine; no list and no copy read'
    try:
        fields = certified(asked.certificate, trusted(asked.key, asked.keys))
        if asked.proof is not None:
            read = 'proof'
            if not asked.vkey:
                raise ValueError('a proof counts only with a key: --vkey')
            seen = proven(asked.proof, dict(fields), asked.vkey)
            fields.append(('proven', 'row {} is in the checkpoint of {} rows, signed by {}'.format(
                *seen, ', '.join(vkey.split('+')[0] for vkey in asked.vkey))))
            read = 'certificate'
        if asked.list is not None:
            read = 'certificate: genuine; list'
            entries = listed(asked.list, dict(fields)['root'])
            fields = named(fields, list(entries))
            read, code, result = 'certificate and list', 3, 'as certified; no copy read'
        if asked.copy is not None:
            read = 'certificate and list: as certified; copy'
            good, result = compared(entries, dict(there(os.fsencode(asked.copy))), asked.more)
            code = 0 if good else 1
    except ValueError as error:
        parser.exit(1, f'NOT AS CERTIFIED: {read}: {error}\n')
    except (OSError, IndexError, AttributeError) as error:
        parser.exit(2, f'cannot be checked: {read}: {error!r}\n')
    print(*(f'{name}: {value}' for name, value in fields if name != 'key'), sep='\n')
    parser.exit(code, f'{"" if good else "NOT AS CERTIFIED: "}{read}: {result}\n')


if __name__ == '__main__':
    main()
