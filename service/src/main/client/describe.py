"""Prints an OpenAPI description for the generator of the client: without errors, which are exceptions there, and without CSV beside JSON."""

import json
import sys

METHODS = {'get', 'post', 'put', 'patch', 'delete'}
BYTES = {'type': 'string', 'format': 'binary'}


def complete(operation):
    operation['responses'] = {status: response for status, response in operation['responses'].items() if status < '400'}
    for response in operation['responses'].values():
        content = response.get('content', {})
        if 'application/json' in content and content.pop('text/csv', None):
            operation['parameters'] = [each for each in operation['parameters'] if each['name'] not in ('bom', 'format')]
        if content.pop('image/png', None):
            # The generator knows no pictures.
            content['application/octet-stream'] = {'schema': BYTES}
    for sent in [*operation['responses'].values(), operation.get('requestBody', {})]:
        if 'text/csv' in sent.get('content', {}):
            sent['content']['text/csv']['schema'] = BYTES


description = json.load(open(sys.argv[1], encoding='utf-8'))
for path in description['paths'].values():
    for method in METHODS & path.keys():
        complete(path[method])
json.dump(description, sys.stdout)
