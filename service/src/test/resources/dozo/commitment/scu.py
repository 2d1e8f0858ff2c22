"""Asks for a commitment, waits for the report, or both. Arguments: the port to ask at, or 0; the port to listen on, or 0; the own and
the other title; the transaction UID; a file with a class and an instance UID a line. Prints a line for each thing that happened."""
import sys
from queue import Queue

from pydicom.dataset import Dataset
from pydicom.uid import ImplicitVRLittleEndian, ExplicitVRLittleEndian
from pynetdicom import AE, evt
from pynetdicom.sop_class import StorageCommitmentPushModel, StorageCommitmentPushModelInstance, Verification

LIMIT_SECONDS = 240
ask, listen, own, other, transaction, file = sys.argv[1:]
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


def say(*words):
    print(*words, flush=True)


if listen:
    server = AE(ae_title=own)
    server.add_supported_context(StorageCommitmentPushModel, [ExplicitVRLittleEndian, ImplicitVRLittleEndian], scu_role=False, scp_role=True)
    running = server.start_server(('127.0.0.1', listen), block=False, evt_handlers=[(evt.EVT_N_EVENT_REPORT, report)])
if ask:
    client = AE(ae_title=own)
    client.acse_timeout = client.dimse_timeout = client.network_timeout = LIMIT_SECONDS
    client.add_requested_context(StorageCommitmentPushModel)
    client.add_requested_context(Verification)
    association = client.associate('127.0.0.1', ask, ae_title=other)
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
