// Package spaa reads, writes and checks SPAA 1.0 files: Stack Profiles for Agentic
// Analysis, lines of JSON that hold aggregated call stacks, raw samples and time windows of
// a profiled program. It depends only on the standard library and, for [Open] and [Create],
// on a zstd package.
//
// # Reading
//
// [Reader] returns one [Record] per line, in one pass and with line numbers in its errors;
// a bad line does not end the reading. A record is a pointer to one of the structs
// [Header], [DSO], [Frame], [Thread], [Stack], [Sample], [Window] and [Unknown]; the caller
// may keep it.
//
// [Parser] is the layer below, for programs that read gigabytes: it parses one line at a
// time into records that it reuses and whose strings are parts of the text, and allocates
// nothing. Lines are independent, so several goroutines may each parse a part of a file
// with a Parser of their own.
//
// No part of a record is lost. Keys that the spec does not know are kept as raw JSON in the
// Extra of their object, at every level; so are known keys with a value of an unexpected
// JSON type. Numbers are exact: a [Number] keeps the literal of the file. An [ID] knows
// whether it is a string or a number. An [Opt] distinguishes an absent key from one with
// the default value.
//
// Dso and frame ids are integers, as in every example of the spec; stack and window ids may
// be strings or numbers.
//
// # Traps in real files
//
// Stack ids are not unique: writers split the records of one call stack by event, process,
// thread and command, and hash only the frames. Keep every record. Ids of known writers
// hash file-local frame numbers, so they cannot be compared between files, even if the
// header says content_addressable. Samples may come before the stacks that they name. The
// type of a record is often its last key.
//
// # Writing
//
// [Writer] writes records in a canonical form, so that the same records give the same
// bytes: "type" first, then the known keys in a fixed order, then the extras sorted by
// name. It enforces the order of records that the format demands. [Create] compresses by
// the file's extension.
//
// Stack ids should come from [ContentID], which hashes the identity of frames (the
// function, the dso and its build id, the offset) and so gives equal ids to equal stacks of
// different files. Its documentation has the exact layout.
//
// # Checking
//
// [Validate] reads a file once and reports every breach of a table of named rules, [Rules]:
// every MUST and SHOULD of the specification that a file can break, as errors and warnings
// with line numbers.
package spaa
