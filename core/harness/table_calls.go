package harness

// callChecks are the checks of model calls (§7.1).
var callChecks = []Check{
	{
		ID: "model_calls.present", Kind: Schema, Evidence: evidence(ModelCallStatus, TokenCounts, History, Payloads, RunJoin, StepJoin),
		place: inCalls, shape: someItems,
		Title: "Model calls are recorded",
		Text:  "The list of all calls that the harness made to a model server, in the order in which they began. Without it nothing can be said about calls, so everything about them waits for this check. One item that is no object spoils the list.",
		Fails: "there is no list of model calls, it is empty, or an item is no object",
	},
	{
		ID: "calls.identity", Kind: Schema, Evidence: evidence(ModelCallStatus), Needs: []string{"model_calls.present"},
		place: inCalls, each: true, shape: needs(must(keyModelCallID, aText)),
		Title: "Every call has an id",
		Text:  "Turns and invocations refer to calls by this id. Give every attempt one of its own, also those that failed.",
		Fails: "a call has no id",
	},
	{
		ID: "calls.model", Kind: Schema, Evidence: evidence(ModelCallStatus), Needs: []string{"model_calls.present"},
		place: inCalls, each: true, shape: needs(must(keyMetadata, needs(must(keyModelRef, modelRef)))),
		Title: "Every call names its server",
		Text:  "The server that answered, by its type and its name in the configuration. It tells calls of the policy from those of a judge, and it is part of references by response id.",
		Fails: "a call does not name the model server it went to",
	},
	{
		ID: "calls.protocol", Kind: Schema, Evidence: evidence(ModelCallStatus), Needs: []string{"model_calls.present"},
		place: inCalls, each: true, shape: needs(must(keyMetadata, needs(must(keyDialect, one("chat", "responses", "messages"))))),
		Title: "Every call names its protocol",
		Text:  "The dialect says how the bodies of request and response are to be read.",
		Fails: "a call does not name a known dialect",
	},
	{
		ID: "calls.timing", Kind: Schema, Evidence: evidence(ModelCallStatus), Needs: []string{"model_calls.present"},
		place: inCalls, each: true, shape: needs(must(keyStartedAt, aTime), must(keyCompletedAt, aTime)),
		Title: "Every call has its times",
		Text:  "When the call was sent and when its answer or its failure was there, in seconds. Failed calls have both as well. The two are not compared.",
		Fails: "a call lacks the time at which it began or ended",
	},
	{
		ID: "calls.outcome", Kind: Schema, Evidence: evidence(ModelCallStatus), Needs: []string{"model_calls.present"},
		place: inCalls, each: true, shape: needs(must(keyMetadata, outcome)),
		Title: "Every call says how it ended",
		Text:  "Either an error category, or a status of success with what the dialect has to say: the finish reason of chat and messages, the status of responses. A refusal with status 400 and more needs an error category.",
		Fails: "a call does not say how it ended",
	},
	{
		ID: "calls.response_id", Kind: Schema, Evidence: evidence(ModelCallStatus), Needs: []string{"model_calls.present"},
		place: inCalls, each: true, shape: needs(must(keyMetadata, responseID)),
		Title: "Every answer has its id",
		Text:  "The id that the server gave its response. Only a call with an error category may do without.",
		Fails: "an answered call has no response id",
	},
	{
		ID: "calls.request", Kind: Schema, Evidence: evidence(History, Payloads), Needs: []string{"model_calls.present"},
		place: inCalls, each: true, shape: request,
		Title: "Every call has its request",
		Text:  "The body as it was sent, in the dialect that the call names. It shows what the model was asked.",
		Fails: "a call has no request body in its dialect",
	},
	{
		ID: "calls.response", Kind: Schema, Evidence: evidence(History, Payloads), Needs: []string{"model_calls.present"},
		place: inCalls, each: true, shape: response,
		Title: "Every call has its response",
		Text:  "The body as it came. A success has the body of its dialect; an error may have any object or text; where the transport failed, response and status are null and the error category says why.",
		Fails: "a call has no response body in its dialect and no error in its place",
	},
	tokenCheck(keyPromptTokens, "prompt"),
	tokenCheck(keyCompletionTokens, "completion"),
	tokenCheck(keyReasoningTokens, "reasoning"),
	tokenCheck(keyTotalTokens, "total"),
	tokenCheck(keyCachedTokens, "cached"),
	{
		ID: "content.media", Kind: Semantic, Evidence: evidence(History, Payloads), Needs: []string{"model_calls.present", "calls.request", "calls.response"},
		place: inCalls, rule: (*Judge).media,
		Title: "What the model saw can be read",
		Text:  "Images must stand in the row itself. Files by id or address, encrypted content and remote images cannot be read later and make the history incomplete. Words in a text never count, whatever they say.",
		Rule: "no object inside a `request` or `response` has a true-like `file_id`, `file_url` or `encrypted_content`, or a true-like `image_url` that is not " +
			"`data:…;base64,` with at least one byte of strict base64 (of an object its `url` is taken)",
		Fails: "a request or response holds content that cannot be read from the row",
	},
	{
		ID: "content.previous_response", Kind: Semantic, Evidence: evidence(History), Needs: []string{"model_calls.present", "calls.request"},
		place: inCalls, rule: (*Judge).previousResponses,
		Title: "History that a request builds on is there",
		Text:  "A request may leave out what the server remembers and name a previous response instead. That response must be one earlier call of the same server whose bodies are stored.",
		Rule: "for every call whose `request` has a true-like `previous_response_id`: exactly one earlier call has that `response_id` and the same `model_ref`, and its " +
			"`request` and `response` are not null",
		Fails: "a request builds on a previous response that is not among the earlier calls",
	},
}

func tokenCheck(k key, name string) Check {
	return Check{
		ID: "tokens." + k.String(), Kind: Schema, Evidence: evidence(TokenCounts), Needs: []string{"model_calls.present"},
		place: inCalls, each: true, shape: counted(k),
		Title: "Counts of " + name + " tokens are whole numbers",
		Text:  "The normalised count of " + name + " tokens. A count that is not known is null or left out; how many calls have it is told beside the verdict.",
		Fails: "a call has no token statistics, or their count of " + name + " tokens is no whole number",
	}
}
