// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package conflict

// advise lists what the requester can do next, the likeliest first.
func advise(r Report) []Advice {
	var list []Advice
	switch r.Decision {
	case Wait:
		list = append(list,
			Advice{Verb: "wait", Text: "goes on by itself when its turn comes"},
			Advice{Verb: "abort", Text: "Ctrl-C gives up the place in the queue"})
	case Reject:
		list = append(list,
			Advice{Verb: "revise", Text: "change the configuration, or agree with the holder"},
			Advice{Verb: "abort", Text: "nothing was sent to the cloud for this object"})
	case Replan:
		list = append(list,
			Advice{Verb: "revise", Command: "tfweaver plan", Text: "the plan was made on a state that is gone"})
	}
	return append(list, verify(r)...)
}

// verify lists what anybody can look into. Only an outcome that nobody knows
// can be settled by hand; a running call cannot.
func verify(r Report) []Advice {
	list := []Advice{{Verb: "verify", Command: "tfweaver why " + r.ID, Text: "shows all reasons"}}
	seen := map[string]bool{}
	for _, c := range r.Conflicts {
		if h := c.Holder; h != nil && h.State == Uncertain && !seen[h.Tx] {
			seen[h.Tx] = true
			list = append(list, resolveAdvice(h.Tx))
		}
	}
	return list
}

func resolveAdvice(tx string) Advice {
	return Advice{
		Verb: "verify", Command: "tfweaver resolve " + tx + " --reason TEXT",
		Text: "records what became of the object, once somebody has looked",
	}
}
