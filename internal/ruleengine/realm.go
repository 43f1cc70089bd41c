// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/zclconf/go-cty/cty"
)

// maxIDLength bounds the ids that the engine makes nodes of, in bytes.
const maxIDLength = 2048

// account is a pack together with the account that a provider's configuration
// chose: all that is needed to place ids.
type account struct {
	pack  *pack
	scope scope // provider, local, realm and table
	// namespace begins the id of every node.
	namespace string
	realm     graph.Decl
}

// account resolves the realm of a provider configuration.
func (e *Engine) account(p *pack, provider string, config cty.Value) (account, error) {
	a, err := e.resolve(p, config)
	if err != nil {
		return account{}, &RealmError{Pack: p.name, Provider: provider, Remedy: p.realm.remedy, Err: err}
	}
	return a, nil
}

func (e *Engine) resolve(p *pack, config cty.Value) (account, error) {
	if config.IsNull() { // also for no value at all
		config = cty.DynamicVal
	}
	ambient := scope{rule: "realm of " + p.name, funcs: e.ambient}.with(rootProvider, config).with(rootTable, p.tables)
	locals := map[string]cty.Value{}
	for _, l := range p.locals {
		v, err := ambient.value(l.value)
		if err != nil {
			return account{}, err
		}
		locals[l.name] = v
	}
	ambient = ambient.with(rootLocal, cty.ObjectVal(locals))
	namespace, err := ambient.text(p.realm.namespace)
	if err != nil {
		return account{}, err
	}
	id, err := ambient.text(p.realm.id)
	if err != nil {
		return account{}, err
	}
	a := account{pack: p, namespace: namespace, scope: ambient}
	a.scope.funcs = e.pure
	a.scope = a.scope.with(rootRealm, cty.ObjectVal(map[string]cty.Value{
		"id": cty.StringVal(id), "namespace": cty.StringVal(namespace),
	}))
	a.realm, err = a.realmNode(id)
	return a, err
}

func (a account) realmNode(id string) (graph.Decl, error) {
	node, err := a.node(id)
	return graph.Decl{ID: node, Kind: graph.Realm, Type: a.pack.realm.kind}, err
}

// node is the node of an id of the cloud.
func (a account) node(id string) (graph.NodeID, error) {
	id, err := a.canonical(id)
	if err != nil {
		return "", err
	}
	return graph.NodeID(a.namespace + id), nil
}

// canonical spells an id, or a name, in the way of the pack.
func (a account) canonical(id string) (string, error) {
	if err := checkID(id); err != nil {
		return "", err
	}
	if a.pack.canonical != nil {
		var err error
		if id, err = a.scope.with(rootID, cty.StringVal(id)).text(a.pack.canonical); err != nil {
			return "", err
		}
		if err := checkID(id); err != nil {
			return "", err
		}
	}
	return escape(id), nil
}

func checkID(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("%w: empty", ErrIdentity)
	case len(id) > maxIDLength:
		return fmt.Errorf("%w: longer than %d bytes", ErrIdentity, maxIDLength)
	case strings.ContainsFunc(id, unicode.IsControl):
		return fmt.Errorf("%w: %q has control characters", ErrIdentity, clip(id))
	default:
		return nil
	}
}

// escape keeps an id of the cloud from looking like a facet or a name node.
func escape(id string) string { return strings.ReplaceAll(id, "/~", "/%7E") }

// cloudID is the canonical id of the cloud behind a node of the account.
func (a account) cloudID(node graph.NodeID) (string, bool) {
	id, ok := strings.CutPrefix(string(node), a.namespace)
	return strings.ReplaceAll(id, "/%7E", "/~"), ok
}
