// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/embedded"
	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/plugins"
	"github.com/tfweaver/tfweaver/wrapper/scratch"
	"github.com/tfweaver/tfweaver/wrapper/settings"
	"github.com/tfweaver/tfweaver/wrapper/terraform"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// connectError is a coordinator that cannot be reached.
type connectError struct {
	// Address is where it should be; empty for the embedded one.
	Address string
	Err     error
	// Asking is set when nothing but an answer was wanted.
	Asking bool
}

func (e *connectError) Error() string { return fmt.Sprintf("coordinator %s: %v", e.Address, e.Err) }
func (e *connectError) Unwrap() error { return e.Err }

// failedError is one of tfweaver's own commands that could not do what it was
// asked.
type failedError struct {
	What string
	Err  error
	// Remedy says what to do about it; may be empty.
	Remedy string
}

func (e *failedError) Error() string { return e.What + ": " + e.Err.Error() }
func (e *failedError) Unwrap() error { return e.Err }

// packError is a rule pack with mistakes.
type packError struct{ diags hcl.Diagnostics }

func (e *packError) Error() string { return e.diags.Error() }

// explain puts an error into words for people, with what to do about it, and
// says with which code to exit. Nothing was sent to the cloud in any case.
func explain(err error) (views.Problem, int) {
	var (
		usage   *arguments.UsageError
		missing *terraform.NotFoundError
		connect *connectError
		pack    *packError
		pkg     *plugins.PackageError
		launch  *plugins.LaunchError
		failed  *failedError
		serving *serveError
		local   *localError
		exposed *exposedError
		broken  *settingsError
		place   *scratch.PlaceError
		unread  *planError
	)
	switch {
	case errors.Is(err, errInterrupted):
		return views.Problem{Summary: "Interrupted", Detail: "Nothing was sent to the cloud."}, ExitError
	case errors.As(err, &usage):
		return views.Problem{Summary: "Invalid tfweaver option", Detail: usage.Error() + ".\n\nRun \"tfweaver -help\" for the options."}, ExitSetup
	case errors.As(err, &failed):
		return views.Problem{Summary: failed.Error(), Detail: failed.Remedy}, ExitError
	case errors.As(err, &serving):
		return views.Problem{Summary: "tfweaver serve failed", Detail: sentence(serving.Error())}, ExitSetup
	case errors.As(err, &missing):
		return explainCLI(missing)
	case errors.As(err, &exposed):
		return explainExposed(exposed), ExitSetup
	case errors.As(err, &local):
		return explainLocal(), ExitSetup
	case errors.As(err, &broken):
		return explainSettings(broken), ExitSetup
	case errors.As(err, &connect):
		return explainConnect(connect), ExitSetup
	case errors.As(err, &pack):
		return views.Problem{Summary: "Broken rule pack", Detail: packDetail(pack.diags)}, ExitSetup
	case errors.As(err, &pkg):
		return explainPackage(pkg)
	case errors.As(err, &launch):
		return views.Problem{Summary: "Provider does not start", Detail: sentence(launch.Error())}, ExitError
	case errors.As(err, &unread):
		return explainPlan(unread), ExitError
	case errors.As(err, &place):
		return explainPlace(place), ExitSetup
	case errors.Is(err, intercept.ErrSocketPath):
		return views.Problem{Summary: "No room for the provider sockets", Detail: sentence(err.Error()) + " Set TMPDIR to a shorter path."}, ExitSetup
	case errors.Is(err, plugins.ErrLockFile):
		return views.Problem{Summary: "Dependency lock file not understood", Detail: sentence(err.Error()) + " \"terraform init\" does not understand it either: restore it, as with \"git checkout " + plugins.LockFileName + "\", or remove it and run \"terraform init\"."}, ExitError
	default:
		return views.Problem{Summary: "tfweaver cannot coordinate this run", Detail: sentence(err.Error()) + " Nothing was sent to the cloud."}, ExitSetup
	}
}

func explainConnect(e *connectError) views.Problem {
	p := views.Problem{Summary: "The coordinator cannot be reached"}
	nothing, alone := "Nothing was sent to the cloud. ", ", or run Terraform alone with -weaver-off"
	if e.Asking {
		nothing, alone = "", ""
	}
	const where = "-weaver-coordinator or TFWEAVER_COORDINATOR"
	var start *embedded.StartError
	var token *tokenError
	var authority *authorityError
	switch {
	case errors.As(e.Err, &start):
		p.Summary = "The coordinator cannot be started"
		p.Detail = sentence(start.Reason)
		if !e.Asking {
			p.Detail += "\n\n" + nothing + "To run Terraform without coordination, use -weaver-off."
		}
	case errors.As(e.Err, &token):
		p = explainToken(token, nothing)
	case errors.Is(e.Err, client.ErrNoToken):
		p = explainToken(&tokenError{Where: e.Address, Err: e.Err}, nothing)
	case errors.Is(e.Err, client.ErrTokenRefused):
		p.Detail = fmt.Sprintf("The coordinator at %s knows another token. %sIs the one in TFWEAVER_TOKEN, or in the file that was named, the one that \"tfweaver serve -token-file\" was started with?", e.Address, nothing)
	case errors.As(e.Err, &authority):
		p.Detail = fmt.Sprintf("%s. It should hold the certificate that vouches for the coordinator at %s; %s names it.\n\n%sPut the certificate there, or correct %s.",
			authority, e.Address, authority.From, nothing, authority.From)
	case errors.Is(e.Err, client.ErrCertificate):
		p.Detail = sentence(e.Err.Error()) + "\n\n" + nothing + trustRemedy(e.Err)
	case errors.Is(e.Err, client.ErrPlaintext):
		p.Detail = sentence(e.Err.Error()) + "\n\n" + nothing + "Correct " + where + "."
	case e.Address == "":
		p.Detail = fmt.Sprintf("The coordinator of this machine does not answer: %v.\n\n"+
			"%sStart one with \"tfweaver serve --listen unix:///PATH\" and name it with "+
			"-weaver-coordinator%s.", e.Err, nothing, alone)
	case errors.Is(e.Err, client.ErrAddress):
		p.Detail = sentence(e.Err.Error()) + "\n\n" + nothing + "Correct " + where + "."
	case errors.Is(e.Err, client.ErrDenied):
		p.Detail = fmt.Sprintf("The coordinator at %s belongs to another user%s. A socket serves one user of one machine.\n\n"+
			"%sRun as that user, take the address out of %s to use a coordinator of your own, or have it served to others with \"tfweaver serve -listen tcp://HOST:PORT\".", e.Address, cause(e.Err), nothing, where)
	default:
		p.Detail = fmt.Sprintf("Nobody answers at %s%s.\n\n%sStart it with \"tfweaver serve --listen %s%s\", "+
			"or correct %s.", e.Address, cause(e.Err), nothing, e.Address, secrets(e.Address), where)
	}
	return p
}

// planError is a saved plan that cannot be read, in the middle of an apply.
type planError struct {
	Err error
	// Place is what is wrong with the folder that it was saved in; nil for nothing.
	Place *scratch.PlaceError
}

func (e *planError) Error() string { return e.Err.Error() }

func (e *planError) Unwrap() error { return e.Err }

// unreadable explains by the folder of the run why a plan in it cannot be read: the
// CLI says nothing of it when there is no room to write all of the plan.
func unreadable(folder string, err error) error {
	if err == nil {
		return nil
	}
	unread := &planError{Err: err}
	_ = errors.As(scratch.CheckRoom(folder), &unread.Place)
	return unread
}

func explainPlan(e *planError) views.Problem {
	if e.Place != nil {
		p := explainPlace(e.Place)
		p.Detail = "The plan was made, and could not be saved. " + p.Detail
		return p
	}
	return views.Problem{Summary: "The plan cannot be read", Detail: sentence(e.Error()) + " Nothing was sent to the cloud."}
}

func explainPlace(e *scratch.PlaceError) views.Problem {
	p := views.Problem{
		Summary: "No place for temporary files",
		Detail:  sentence(e.Error()) + " Nothing was sent to the cloud.\n\nSet TMPDIR to a folder of your own.",
	}
	if errors.Is(e, syscall.ENOSPC) || errors.Is(e, syscall.EDQUOT) || errors.Is(e, syscall.EFBIG) {
		p.Summary = "No room for temporary files"
		p.Detail = sentence(e.Error()) + " Nothing was sent to the cloud.\n\nFree some space there, or set TMPDIR to a folder of your own with more of it."
	}
	return p
}

// secrets are the options without which nothing is served on a network.
func secrets(address string) string {
	if !onNetwork(address) {
		return ""
	}
	return " --tls-cert FILE --tls-key FILE --token-file FILE"
}

// trustRemedy is what helps against a certificate that is not trusted: it depends
// on whose fault that is.
func trustRemedy(err error) string {
	var (
		invalid x509.CertificateInvalidError
		name    x509.HostnameError
	)
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "Whoever runs the coordinator has to renew it: a new file in its place is taken without a restart."
	case errors.As(err, &name):
		return "Correct -weaver-coordinator or TFWEAVER_COORDINATOR, or have whoever runs the coordinator make a certificate for this name."
	default:
		return "The certificate that vouches for it is named by ca_file in " + settings.FileName + ", -weaver-ca-file or TFWEAVER_CA_FILE."
	}
}

// explainToken never shows the token.
func explainToken(e *tokenError, nothing string) views.Problem {
	remedy := "Put the token into the variable TFWEAVER_TOKEN, or into a file that -weaver-token-file or TFWEAVER_TOKEN_FILE names."
	if e.From != "" {
		remedy = "Put the token there, or correct " + e.From + ", or put the token into the variable TFWEAVER_TOKEN."
	}
	return views.Problem{
		Summary: "No token for the coordinator",
		Detail: sentence(orElse(e.Coordinator, "a coordinator on the network")+" asks for a token. "+e.Error()) +
			"\n\n" + nothing + remedy + " It is the content of the file that \"tfweaver serve -token-file\" was started with.",
	}
}

// cause is the reason of the operating system for a failed connection, or the
// whole text of an error that is none.
func cause(err error) string {
	var reason syscall.Errno
	switch {
	case errors.As(err, &reason):
		return " (" + reason.Error() + ")"
	case errors.Is(err, client.ErrUnreachable):
		return ""
	default:
		return ": " + err.Error()
	}
}

func explainPackage(e *plugins.PackageError) (views.Problem, int) {
	name := e.Source + " " + e.Version
	switch {
	case errors.Is(e, plugins.ErrNotInstalled), errors.Is(e, plugins.ErrNoExecutable), errors.Is(e, plugins.ErrAmbiguous):
		return views.Problem{
			Summary: "Required provider is not installed",
			Detail:  fmt.Sprintf("The dependency lock file selects %s, but it is not in the data folder: %v.\n\nTo install it: %s.", name, e.Kind, e.Remedy),
		}, ExitError
	default:
		return views.Problem{
			Summary: "Provider package not trusted",
			Detail: fmt.Sprintf("The package of %s in %s is not the one that the dependency lock file records: %v.\n\n"+
				"It was not started. What to do: %s.", name, e.Path, e.Kind, e.Remedy),
		}, ExitSetup
	}
}

func packDetail(diags hcl.Diagnostics) string {
	var b strings.Builder
	for _, d := range diags {
		if d.Severity != hcl.DiagError {
			continue
		}
		if d.Subject != nil {
			fmt.Fprintf(&b, "%s: ", d.Subject)
		}
		fmt.Fprintf(&b, "%s: %s\n", d.Summary, d.Detail)
	}
	b.WriteString("\nNothing was sent to the cloud. Correct the pack, or take it out of TFWEAVER_RULES.")
	return b.String()
}

// sentence makes an error text the sentence that it is. A value at its begin,
// such as a path, stays as it is.
func sentence(text string) string {
	if text == "" {
		return text
	}
	first, _, _ := strings.Cut(text, " ")
	if strings.Trim(first, "abcdefghijklmnopqrstuvwxyz") == "" {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	if strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}
