"""Events, what happened: values and their order, events, schemas, codecs.

Inside:

    number, value           numbers in one total order; the comparison of all values
    event                   what happened, as flat attributes; flattening of nested documents
    door, door_columns, projection
                            from JSON bytes to events of which only what is asked for is read; as
                            columns; from the whole text
    unread                  an event that keeps its JSON, and is read when somebody looks into it
    json                    strict JSON: the same text is the same event everywhere, or it is
                            refused
    binary                  the canonical bytes of an event, for links and stores
    cloudevents, cloudevents_door, cloudevents_http
                            CloudEvents in JSON, whole or as far as they are asked for; in HTTP
                            messages
    columns, documents, arrow/
                            batches: Arrow tables as columns; documents that come one by one as
                            columns
    domain, schema, validation
                            which values an attribute may have; types and attributes; events against
                            them
    spelling                which known name was probably meant by an unknown one
"""
