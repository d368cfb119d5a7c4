"""pprof's profile.proto and Pyroscope's push.proto as classes of protobuf's own library: referees of ours."""

from __future__ import annotations

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

_FIELD = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "int64": _FIELD.TYPE_INT64,
    "uint64": _FIELD.TYPE_UINT64,
    "string": _FIELD.TYPE_STRING,
    "bool": _FIELD.TYPE_BOOL,
    "bytes": _FIELD.TYPE_BYTES,
}

# Message: fields, each "[*]type name = number", where * stands for repeated.
_MESSAGES = {
    "Profile": """
        *ValueType sample_type = 1; *Sample sample = 2; *Mapping mapping = 3; *Location location = 4;
        *Function function = 5; *string string_table = 6; int64 drop_frames = 7; int64 keep_frames = 8;
        int64 time_nanos = 9; int64 duration_nanos = 10; ValueType period_type = 11; int64 period = 12;
        *int64 comment = 13; int64 default_sample_type = 14
    """,
    "ValueType": "int64 type = 1; int64 unit = 2",
    "Sample": "*uint64 location_id = 1; *int64 value = 2; *Label label = 3",
    "Label": "int64 key = 1; int64 str = 2; int64 num = 3; int64 num_unit = 4",
    "Mapping": """
        uint64 id = 1; uint64 memory_start = 2; uint64 memory_limit = 3; uint64 file_offset = 4;
        int64 filename = 5; int64 build_id = 6; bool has_functions = 7; bool has_filenames = 8;
        bool has_line_numbers = 9; bool has_inline_frames = 10
    """,
    "Location": """
        uint64 id = 1; uint64 mapping_id = 2; uint64 address = 3; *Line line = 4; bool is_folded = 5
    """,
    "Line": "uint64 function_id = 1; int64 line = 2",
    "Function": """
        uint64 id = 1; int64 name = 2; int64 system_name = 3; int64 filename = 4; int64 start_line = 5
    """,
    "PushRequest": "*RawProfileSeries series = 1",
    "RawProfileSeries": "*LabelPair labels = 1; *RawSample samples = 2",
    "LabelPair": "string name = 1; string value = 2",
    "RawSample": "bytes raw_profile = 1; string ID = 2",
}


def _classes() -> tuple[type[Message], type[Message]]:
    file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package="pprof", syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for text in fields.split(";"):
            kind, field, _, number = text.split()
            added = message.field.add(name=field, number=int(number))
            added.label = _FIELD.LABEL_REPEATED if kind[0] == "*" else _FIELD.LABEL_OPTIONAL
            kind = kind.lstrip("*")
            added.type = _SCALARS.get(kind, _FIELD.TYPE_MESSAGE)
            if kind not in _SCALARS:
                added.type_name = f".pprof.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    profile, request = map(pool.FindMessageTypeByName, ("pprof.Profile", "pprof.PushRequest"))
    return message_factory.GetMessageClass(profile), message_factory.GetMessageClass(request)


PprofProfile, PushRequest = _classes()
