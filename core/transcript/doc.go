// Package transcript ties together what a rollout shows of its conversation: questions, answers and reasoning by turns,
// tool calls with their results, model calls with the turns they made, invocations with their subagents.
//
// Its nouns: an *item* is a message, a piece of reasoning, a tool call or a tool result, in whichever dialect it was
// written. A [Rollout] has the turns of a saved trajectory; a row without one gets its turns from its response. Items
// are spans of the row; nothing is copied, and the content of an item is looked at when somebody wants to see it.
//
//	var r transcript.Reader
//	talk := r.Read(row)
//	for _, turn := range talk.Turns {
//		…
//	}
//
// Results go to calls by their id. An id that is used again belongs to each result's nearest earlier call that has none
// yet; an id that is null belongs to nothing.
package transcript
