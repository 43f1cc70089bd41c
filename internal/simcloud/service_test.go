// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud_test

import (
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

func TestAPolicyDocumentIsWrittenUnderItsToken(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{})
	l.built(group(), policy("o", "a"))
	write := func(token string) (string, *arm.Error) {
		return l.call(simcloud.Call{Method: "PUT", Path: policyPath + "o", Body: encode(t, policy("o", "b", "c").r), IfMatch: token})
	}
	token := l.get(policyPath + "o").Etag
	l.refused(428, arm.CodePreconditionRequired)(write(""))
	l.refused(428, arm.CodePreconditionRequired)(l.delete(policyPath + "o"))
	l.refused(412, arm.CodePreconditionFailed)(write("W/\"0\""))
	l.must(write(token))
	l.settle()
	l.refused(412, arm.CodePreconditionFailed)(write(token))
	if got := l.get(policyPath + "o").Properties.Statements; len(got) != 2 || got[0] != "b" {
		t.Errorf("statements: %q", got)
	}
	l.must(l.call(simcloud.Call{Method: "DELETE", Path: policyPath + "o", IfMatch: l.get(policyPath + "o").Etag}))
	l.settle()
	l.gone(policyPath + "o")
}

// TestTheAccountTakesOneAttachmentAtATime has six writers of one account.
func TestTheAccountTakesOneAttachmentAtATime(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{Subscriptions: []string{arm.DefaultSubscription, "other"}})
	l.built(group())
	first := l.must(l.send(attachment("0")))
	for _, name := range []string{"1", "2", "3", "4", "5"} {
		_, refusal := l.send(attachment(name))
		l.refused(409, arm.CodeConcurrentModification)("", refusal)
		if refusal != nil && refusal.Blocking != first {
			t.Errorf("blocked by %q; want %q", refusal.Blocking, first)
		}
	}
	l.must(l.send(pip("p"))) // other types go on
	l.must(l.call(simcloud.Call{Method: "PUT", Path: "/subscriptions/other/providers/Microsoft.Management/attachments/0", Body: encode(t, attachment("0").r)}))
	l.clock.Advance(time.Second)
	l.outcome(first, arm.OperationSucceeded, "")
	l.must(l.send(attachment("1")))
	l.refused(409, arm.CodeConcurrentModification)(l.delete(attachmentPath + "0"))
	l.settle()
	l.must(l.delete(attachmentPath + "0"))
	l.settle()
	l.gone(attachmentPath + "0")
	if _, refusal := l.cloud.Read(simcloud.Call{Path: attachmentPath + "0"}); refusal.Code != arm.CodeResourceNotFound {
		t.Errorf("an attachment that is gone is reported as %v", refusal)
	}
	list, refusal := l.cloud.List(simcloud.Call{Path: "/subscriptions/" + arm.DefaultSubscription + "/providers/Microsoft.Management/attachments"})
	if refusal != nil || len(list.Value) != 1 || list.Value[0].ID != attachmentPath+"1" {
		t.Errorf("list: %+v, %v", list, refusal)
	}
	groups, refusal := l.cloud.List(simcloud.Call{Path: "/subscriptions/" + arm.DefaultSubscription + "/resourceGroups"})
	if refusal != nil || len(groups.Value) != 1 {
		t.Errorf("groups: %+v, %v", groups, refusal)
	}
}

// TestAPermissionRewritesItsFunction walks the ways in which two writes of one
// function meet.
func TestAPermissionRewritesItsFunction(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{})
	l.built(group(), function("f"), function("g"))
	l.must(l.send(permission("f", "p")))
	l.refused(409, arm.CodeResourceConflict)(l.send(permission("f", "q")))
	l.refused(409, arm.CodeResourceConflict)(l.send(function("f")))
	l.refused(409, arm.CodeResourceConflict)(l.delete(functionPath + "f"))
	l.must(l.send(permission("g", "p")))
	l.settle()
	l.must(l.send(function("f")))
	l.refused(409, arm.CodeResourceConflict)(l.delete(functionPath + "f/permissions/p"))
	l.settle()
	l.must(l.delete(functionPath + "f"))
	l.settle()
	l.gone(functionPath + "f/permissions/p")
}

func TestEveryWriteOfAFunctionMakesARevision(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{})
	l.built(group())
	for want, write := range []func(){
		func() { l.built(function("f")) },
		func() { l.built(permission("f", "p")) },
		func() { l.built(permission("f", "p")) },
		func() { l.built(thing{functionPath + "f", l.get(functionPath + "f")}) },
		func() { l.must(l.delete(functionPath + "f/permissions/p")); l.settle() },
	} {
		before := arm.Resource{}
		if want > 0 {
			before = l.get(functionPath + "f")
		}
		write()
		after := l.get(functionPath + "f")
		if after.Properties.Revision != want+1 || after.Etag == before.Etag {
			t.Errorf("revision %d after write %d, etag %s", after.Properties.Revision, want+1, after.Etag)
		}
	}
}

func TestContentOfTheServices(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{})
	l.built(group(), function("f"))
	located := policy("o")
	located.r.Location = "north"
	noTarget, noRuntime, noPrincipal, noAction := attachment("t"), function("g"), permission("f", "p"), permission("f", "p")
	noTarget.r.Properties.Target, noRuntime.r.Properties.Runtime = "", ""
	noPrincipal.r.Properties.Principal, noAction.r.Properties.Action = "", ""
	tiny, sizeless, foreign := disk("d", 1), vm("m", ""), disk("d", 1)
	tiny.r.Properties.DiskSizeGB = 0
	foreign.r.Properties.Target = "t"
	for _, th := range []thing{disk("d", 11), disk("d", -1), tiny, foreign, sizeless, located, noTarget, noRuntime, noPrincipal, noAction} {
		l.refused(400, arm.CodeInvalidRequestContent)(l.send(th))
	}
	l.refused(404, arm.CodeParentResourceNotFound)(l.send(permission("none", "p")))
}
