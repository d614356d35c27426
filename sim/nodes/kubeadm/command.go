package kubeadm

import (
	"fmt"
	"regexp"
	"strings"
)

// kubeadmCommand finds a call of kubeadm in a shell line, up to the operator that ends it. Words before it (sudo, env settings) do
// not matter.
var kubeadmCommand = regexp.MustCompile(`(?:^|[\s;&|/])kubeadm\s+([a-z]+)([^;&|]*)`)

// Command is one call of kubeadm.
type Command struct {
	// Verb is join, init, reset ...
	Verb string
	// Config is the value of --config, Flags the others by name, Args what is no flag.
	Config string
	Flags  map[string][]string
	Args   []string
}

// FindCommand gives the call of kubeadm in a shell line, or nil.
func FindCommand(line string) *Command {
	m := kubeadmCommand.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	c := &Command{Verb: m[1], Flags: map[string][]string{}}
	words := strings.Fields(m[2])
	for i := 0; i < len(words); i++ {
		if !strings.HasPrefix(words[i], "-") {
			c.Args = append(c.Args, unquote(words[i]))
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimLeft(words[i], "-"), "=")
		if !hasValue && !switches[name] && i+1 < len(words) {
			i++
			value = words[i]
		}
		c.Flags[name] = append(c.Flags[name], unquote(value))
	}
	c.Config = last(c.Flags["config"])
	return c
}

// switches are kubeadm's flags that take no value.
var switches = map[string]bool{"discovery-token-unsafe-skip-ca-verification": true, "control-plane": true, "dry-run": true, "help": true}

func unquote(s string) string { return strings.Trim(s, `"'`) }

func last(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[len(s)-1]
}

// Join parses the flags of `kubeadm join HOST:PORT --token ...`; read reads a file of the machine for --config.
func (c *Command) Join(read func(path string) ([]byte, bool)) (*Join, error) {
	if c.Verb != "join" {
		return nil, fmt.Errorf("kubeadm %s: a simulated machine can only join as a worker", c.Verb)
	}
	if c.Config != "" {
		b, ok := read(c.Config)
		if !ok {
			return nil, fmt.Errorf("unable to read config from %q: open %s: no such file or directory", c.Config, c.Config)
		}
		return ParseConfig(b)
	}
	if _, ok := c.Flags["control-plane"]; ok {
		return nil, fmt.Errorf("kubeadm join --control-plane: a machine of a pool can only be a worker")
	}
	j := &Join{
		NodeName: last(c.Flags["node-name"]), CRISocket: last(c.Flags["cri-socket"]), File: last(c.Flags["discovery-file"]),
		TLSToken: last(c.Flags["tls-bootstrap-token"]), Token: last(c.Flags["discovery-token"]),
		CAHashes:         c.Flags["discovery-token-ca-cert-hash"],
		DiscoveryTimeout: DefaultTimeout, BootstrapTimeout: DefaultTimeout, APITimeout: defaultCallTimeout,
	}
	_, j.SkipCA = c.Flags["discovery-token-unsafe-skip-ca-verification"]
	if t := last(c.Flags["token"]); t != "" {
		j.Token, j.TLSToken = t, t
	}
	if j.File != "" {
		j.Token = "" // --token next to --discovery-file is for the TLS bootstrap alone.
		return j, j.validate()
	}
	if len(c.Args) > 0 {
		j.Endpoint = c.Args[0]
	}
	return j, j.validate()
}
