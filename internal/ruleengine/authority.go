// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// errNotURL does not repeat the text: a URL may carry a password.
var errNotURL = errors.New("not a URL with a host; it looks like https://host:port")

// authorityFunction returns host:port of a URL in one spelling: lower case, the
// scheme's port written out, without the final dot of a name, the loopback name
// as its address, addresses in their shortest form, and an IPv4 address that is
// mapped into IPv6 as the IPv4 address that it stands for (RFC 4291, section
// 2.5.5.2). For a socket (unix:///path) it is unix:/path.
func authorityFunction() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "url", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			s, err := authority(args[0].AsString())
			if err != nil {
				return cty.UnknownVal(cty.String), function.NewArgError(0, err)
			}
			return cty.StringVal(s), nil
		},
	})
}

func authority(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", errNotURL
	case u.Scheme == "unix" && u.Path != "":
		return "unix:" + path.Clean(u.Path), nil
	}
	host := canonicalHost(u.Hostname())
	if host == "" {
		return "", errNotURL
	}
	return net.JoinHostPort(host, canonicalPort(u.Scheme, u.Port())), nil
}

func canonicalHost(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" {
		return "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().String()
	}
	return host
}

// canonicalPort writes out the port of a scheme; url.Parse lets only digits
// through.
func canonicalPort(scheme, port string) string {
	if n, err := strconv.ParseUint(port, 10, 16); err == nil {
		return strconv.FormatUint(n, 10)
	}
	switch {
	case port != "":
		return port
	case scheme == "http": // url.Parse has made it lower case
		return "80"
	default:
		return "443"
	}
}
