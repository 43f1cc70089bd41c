// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"regexp"
	"slices"
	"strings"
)

// maxErrorText bounds how much of one error of a provider is looked at, in
// bytes.
const maxErrorText = 64 << 10

// refusal is what an error of a provider means.
type refusal struct {
	name     string
	codes    []string
	match    []string
	regex    []*regexp.Regexp
	definite bool
	meta     meta // class may be empty: no conflict
}

// codeGroup is the group of a pack's error_code.
const codeGroup = "code"

func (r *refusal) matches(text, code string) bool {
	return code != "" && slices.Contains(r.codes, code) ||
		slices.ContainsFunc(r.match, func(s string) bool { return strings.Contains(text, s) }) ||
		slices.ContainsFunc(r.regex, func(re *regexp.Regexp) bool { return re.MatchString(text) })
}

// Refusal says what the errors mean that a provider's call on a resource type
// ended with. Each text is one diagnostic of severity error: its summary, a
// newline and its detail; warnings are no errors. For each text the first
// matching error block counts, those of the resource type before those of the
// pack.
//
// class is the conflict class of the first text that is known, empty for an
// error that has nothing to do with others. definite is true when every text
// says that the call had no effect on the cloud and will have none, so that
// nothing has to be read to know how it ended. known is false when no text
// matches anything.
func (e *Engine) Refusal(provider, resourceType string, texts []string) (class string, definite, known bool) {
	list := e.refusals(provider, resourceType)
	definite = len(texts) > 0
	for _, text := range texts {
		text = text[:min(len(text), maxErrorText)]
		i := slices.IndexFunc(list, func(r located) bool { return r.matches(text, r.pack.code(text)) })
		if i < 0 {
			definite = false
			continue
		}
		if !known {
			class = list[i].meta.class
		}
		known, definite = true, definite && list[i].definite
	}
	return class, definite, known
}

// refusals are the error blocks for a type in the order in which they count. A
// block of the type takes the place of the pack's block of the same name. For a
// type without a rule they are those of all packs of the provider.
func (e *Engine) refusals(provider, resourceType string) []located {
	p, r := e.find(provider, resourceType)
	if r == nil {
		var list []located
		for _, p := range e.packs {
			if p.provider.match(provider) {
				list = append(list, p.located(p.refusals)...)
			}
		}
		return list
	}
	own := func(of *refusal) bool {
		return slices.ContainsFunc(r.refusals, func(o *refusal) bool { return o.name == of.name })
	}
	return p.located(append(slices.Clone(r.refusals), slices.DeleteFunc(slices.Clone(p.refusals), own)...))
}

// located is a refusal and the pack that says so.
type located struct {
	*refusal
	pack *pack
}

func (p *pack) located(refusals []*refusal) []located {
	list := make([]located, len(refusals))
	for i, r := range refusals {
		list[i] = located{refusal: r, pack: p}
	}
	return list
}

// code is the code of an error; empty when it has none.
func (p *pack) code(text string) string {
	if p.errorCode == nil {
		return ""
	}
	if found := p.errorCode.FindStringSubmatch(text); found != nil {
		return found[p.errorCode.SubexpIndex(codeGroup)]
	}
	return ""
}
