package harness

// The shapes of §4, and the small ones they are made of.
var (
	anObject  = &shape{is: isObject}
	aNull     = &shape{is: isNull}
	aText     = &shape{is: isWritten}
	aNumber   = &shape{is: isNumber}
	aBool     = &shape{is: isBool}
	aTime     = &shape{is: isNumber, bounds: &bounds{open: true}}
	aCount    = &shape{is: isInteger | isNull, bounds: &bounds{open: true}}
	maybeText = &shape{is: isWritten | isNull}
	maybeBool = &shape{is: isBool | isNull}
	someItems = &shape{is: isArray, some: true, items: anObject}
	items     = list(anObject)

	// unanswered is what the metadata of a call have that brought no answer.
	unanswered = needs(must(keyErrorCategory, aText))

	statusCodes = bounds{least: 100, most: 599}
	statusCode  = &shape{name: "HTTP status", is: isInteger, bounds: &statusCodes}
	success     = &shape{name: "HTTP status of success", is: isInteger, bounds: &bounds{least: 200, most: 299}}

	modelRef = &shape{name: "server", is: isObject, has: []member{
		must(keyType, one("responses_api_models")), must(keyName, aText),
	}}

	callRef = &shape{name: "reference to a call", is: isObject,
		has: []member{may(keyModelCallID, maybeText), may(keyModelRef, either(aNull, modelRef)), may(keyResponseID, maybeText)},
		either: []*shape{
			needs(must(keyModelCallID, aText)),
			needs(must(keyModelRef, modelRef), must(keyResponseID, aText)),
		}}

	callRefs = list(callRef)

	outcome = &shape{name: "outcome", is: isObject,
		has: []member{
			may(keyStatusCode, &shape{is: isInteger | isNull, bounds: &statusCodes}),
			may(keyErrorCategory, maybeText), may(keyResponseStatus, maybeText), may(keyFinishReason, maybeText),
		},
		either: []*shape{unanswered, {
			is: isObject, has: []member{must(keyStatusCode, success)},
			either: []*shape{
				needs(must(keyDialect, one("chat", "messages")), must(keyFinishReason, aText)),
				needs(must(keyDialect, one("responses")), must(keyResponseStatus, one("completed", "incomplete"))),
			}}}}

	responseID = &shape{name: "id of the response",
		when: unanswered, then: needs(may(keyResponseID, maybeText)), otherwise: needs(must(keyResponseID, aText)),
	}

	request = &shape{name: "request", either: []*shape{
		asked("responses", keyInput, either(&shape{is: isText}, items)),
		asked("chat", keyMessages, items),
		asked("messages", keyMessages, items),
	}}

	// A success without an error category must have the body of its dialect; any other answer may have any body.
	response = &shape{name: "response", either: []*shape{
		{
			is: isObject, has: []member{must(keyResponse, &shape{is: isObject | isText}), must(keyMetadata, needs(must(keyStatusCode, statusCode)))},
			when: needs(must(keyMetadata, needs(must(keyStatusCode, success)))),
			then: either(
				needs(must(keyMetadata, unanswered)),
				replied("responses", keyOutput, items),
				replied("chat", keyChoices, list(needs(must(keyMessage, needs(must(keyRole, one("assistant"))))))),
				replied("messages", keyContent, items),
			)},
		needs(must(keyResponse, aNull), must(keyMetadata, needs(must(keyStatusCode, aNull), must(keyErrorCategory, aText)))),
	}}

	// excused asks a sandbox that went wrong for its error.
	excused = &shape{name: "error of a sandbox",
		when: needs(must(keyOutcome, one("failed", "oom", "sandbox_error"))), then: needs(must(keyErrorType, aText)),
	}
)

// needs is the shape of an object with these members.
func needs(has ...member) *shape { return &shape{is: isObject, has: has} }

func must(k key, s *shape) member { return member{key: k, shape: s} }
func may(k key, s *shape) member  { return member{key: k, shape: s, may: true} }

// list is the shape of an array of items.
func list(items *shape) *shape { return &shape{is: isArray, items: items} }

// one is the shape of one of some words.
func one(words ...string) *shape { return &shape{words: words} }

// either is the shape of what meets one of some shapes.
func either(shapes ...*shape) *shape { return &shape{either: shapes} }

// asked is the shape of a call in a dialect whose request has a member.
func asked(dialect string, k key, s *shape) *shape {
	return needs(must(keyMetadata, needs(must(keyDialect, one(dialect)))), must(keyRequest, needs(must(k, s))))
}

// replied is the shape of a call in a dialect whose response has a member.
func replied(dialect string, k key, s *shape) *shape {
	return needs(must(keyMetadata, needs(must(keyDialect, one(dialect)))), must(keyResponse, needs(must(k, s))))
}

// counted is the shape of a call whose token statistics may have a count.
func counted(k key) *shape { return needs(must(keyTokenStats, needs(may(k, aCount)))) }

// A NamedShape is a shape that others refer to by its name.
type NamedShape struct{ Name, Text string }

// NamedShapes lists the shapes that have a name, in the order in which they build on each other.
func NamedShapes() []NamedShape {
	list := []NamedShape{}
	for _, s := range [...]*shape{modelRef, callRef, statusCode, success, outcome, responseID, request, response, excused} {
		list = append(list, NamedShape{s.name, s.inner()})
	}
	return list
}
