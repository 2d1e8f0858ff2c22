"""Asks for a commitment, waits for the report, or both. Arguments: the port to ask at, or 0; the port to listen on, or 0; the own and
the other title; the transaction UID; a file with a class and an instance UID a line. For TLS, the file of Dozo's certificate, and of the
own one and its key, with which reports are expected over TLS, too. Prints a line for each thing that happened."""
import ssl
import sys
from queue import Queue

from pydicom.dataset import Dataset
from pydicom.uid import ImplicitVRLittleEndian, ExplicitVRLittleEndian
from pynetdicom import AE, evt
from pynetdicom.sop_class import StorageCommitmentPushModel, StorageCommitmentPushModelInstance, Verification

LIMIT_SECONDS = 240
ask, listen, own, other, transaction, file = sys.argv[1:7]
trusted, certificate, key = (sys.argv[7:] + [None] * 3)[:3]
ask, listen = int(ask), int(listen)
reports = Queue()


def images():
    for line in open(file):
        item = Dataset()
        item.ReferencedSOPClassUID, item.ReferencedSOPInstanceUID = line.split()
        yield item


def report(event):
    reports.put((event.event_type, event.event_information))
    return 0x0000, None


def tls(protocol):
    context = ssl.SSLContext(protocol)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(trusted)
    if certificate:
        context.load_cert_chain(certificate, key)
    return context


def say(*words):
    print(*words, flush=True)


if listen:
    server = AE(ae_title=own)
    server.add_supported_context(StorageCommitmentPushModel, [ExplicitVRLittleEndian, ImplicitVRLittleEndian], scu_role=False, scp_role=True)
    running = server.start_server(('127.0.0.1', listen), block=False, evt_handlers=[(evt.EVT_N_EVENT_REPORT, report)],
        ssl_context=tls(ssl.PROTOCOL_TLS_SERVER) if certificate else None)
if ask:
    client = AE(ae_title=own)
    client.acse_timeout = client.dimse_timeout = client.network_timeout = LIMIT_SECONDS
    client.add_requested_context(StorageCommitmentPushModel)
    client.add_requested_context(Verification)
    association = client.associate(
        '127.0.0.1', ask, ae_title=other, tls_args=(tls(ssl.PROTOCOL_TLS_CLIENT), None) if trusted else None)
    if not association.is_established:
        say('rejected' if association.is_rejected else 'no association')
        sys.exit()
    say('echo %04x' % association.send_c_echo().Status)
    request = Dataset()
    request.TransactionUID, request.ReferencedSOPSequence = transaction, list(images())
    status, _ = association.send_n_action(request, 1, StorageCommitmentPushModel, StorageCommitmentPushModelInstance)
    say('status %04x' % status.Status)
    association.release()
if listen:
    kind, told = reports.get(timeout=LIMIT_SECONDS)
    say('report', kind, told.TransactionUID)
    for item in told.get('ReferencedSOPSequence', []):
        say('safe', item.ReferencedSOPInstanceUID)
    for item in told.get('FailedSOPSequence', []):
        say('failed', item.ReferencedSOPInstanceUID, '%04x' % item.FailureReason)
    running.shutdown()
