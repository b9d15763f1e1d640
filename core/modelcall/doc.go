// Package modelcall reads what a model server recorded of its exchanges with an agent: capture files and the call
// records in rows (spec model-calls).
//
// Its nouns: a *capture* is the file of one rollout attempt, one exchange a line. Its *key* ties it to a row
// ([Names.Key], [FileKey]). A [Call] is the record of one exchange in a form that does not depend on the dialect (Responses, chat,
// messages): ids, model server, status, finish reason, tokens, latencies, tool calls and reasoning. A [Ref] is how an
// agent names a call it made. The *attachment* is `ng_model_call_capture` of a row: the calls without their payloads,
// their sums ([Metrics]) and what the capture lacks ([Gap]).
//
//	scan := modelcall.Scan{Reader: new(modelcall.Reader)}
//	scan.Data(capture, func(c *modelcall.Call) { … })
//	scan.Damaged // lines that are no call, and why
//
// A call whose answer was a stream keeps the text of the events; [Rebuild] puts the response together again from
// them and [TerminalOf] tells how the stream ended, so that what a line claims can be held against its own evidence
// ([CheckCall]).
//
// For the tables and sums of a run a [Mapper] makes a digest of every row and a [Reducer] brings digests together.
// Nothing here opens a file; null always means that something is not known.
package modelcall
