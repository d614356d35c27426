package cloudinit

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
)

// Metadata is the tree that templates look things up in: nested map[string]any with strings as leaves, e.g.
// ds.meta_data.local_hostname and v1.region. As in cloud-init, names under v1 can also be used without it, and a hyphen in a name is
// written as an underscore.
type Metadata map[string]any

// Instance holds the variables of a machine that templates can use.
type Instance struct {
	ID, Type, Hostname, Address string
	Cloud, Region, Zone         string
	// FaultDomain of a machine on Azure or Oracle Cloud.
	FaultDomain string
	// Arch as uname prints it: x86_64, aarch64.
	Arch string
}

// Metadata lays an instance's facts out where cloud-init puts them.
func (i Instance) Metadata() Metadata {
	v1 := map[string]any{
		"instance_id": i.ID, "local_hostname": i.Hostname, "region": i.Region, "availability_zone": i.Zone,
		"cloud_name": i.Cloud, "cloud_id": i.Cloud, "platform": platform(i.Cloud), "machine": i.Arch,
		"distro": "ubuntu", "distro_version": "24.04", "distro_release": "noble", "system_platform": "linux",
	}
	meta := map[string]any{
		"instance_id": i.ID, "instance_type": i.Type, "hostname": i.Hostname, "local_hostname": i.Hostname, "local_ipv4": i.Address,
		"placement": map[string]any{"availability_zone": i.Zone, "region": i.Region},
	}
	switch i.Cloud {
	case "azure":
		i.onAzure(v1, meta)
	case "gcp":
		i.onGoogle(v1, meta)
	case "oci":
		v1["cloud_name"], v1["cloud_id"] = platform(i.Cloud), platform(i.Cloud)
		return Metadata{"v1": v1, "ds": i.onOracle()}
	}
	return Metadata{"v1": v1, "ds": map[string]any{"meta_data": meta}}
}

// onAzure lays out what cloud-init finds there: the answer of the metadata service as it is, and in the place of the zone the
// fault domain.
func (i Instance) onAzure(v1, meta map[string]any) {
	v1["availability_zone"] = i.FaultDomain
	maps.DeleteFunc(meta, func(name string, _ any) bool { return name != "instance_id" && name != "local_hostname" })
	meta["imds"] = map[string]any{
		"compute": map[string]any{
			"name": i.Hostname, "location": i.Region, "zone": i.Zone, "platformFaultDomain": i.FaultDomain, "vmId": i.ID, "vmSize": i.Type,
			"azEnvironment": "AzurePublicCloud", "provider": "Microsoft.Compute", "osProfile": map[string]any{"computerName": i.Hostname},
		},
	}
}

// onGoogle lays out what cloud-init finds there: the name that the metadata server gives is the full one, the host's own is the first part
// of it.
func (i Instance) onGoogle(v1, meta map[string]any) {
	v1["local_hostname"], _, _ = strings.Cut(i.Hostname, ".")
	v1["cloud_name"], v1["cloud_id"] = platform(i.Cloud), platform(i.Cloud)
	maps.DeleteFunc(meta, func(name string, _ any) bool { return name != "instance_id" && name != "local_hostname" })
	meta["availability_zone"] = i.Zone
}

// onOracle returns what cloud-init finds there: the answer of the metadata service as it is.
func (i Instance) onOracle() map[string]any {
	return map[string]any{"id": i.ID, "displayName": i.Hostname, "hostname": i.Hostname, "shape": i.Type, "canonicalRegionName": i.Region,
		"availabilityDomain": i.Zone, "faultDomain": i.FaultDomain, "state": "Running"}
}

// platform is cloud-init's name of the metadata service, which is not always the cloud's.
func platform(cloud string) string {
	if name, other := platforms[cloud]; other {
		return name
	}
	return cloud
}

// platforms are the clouds whose metadata services have names of their own.
var platforms = map[string]string{"aws": "ec2", "gcp": "gce", "oci": "oracle"}

// jinjaHeader is the first line that makes cloud-init render a part. cloud-init looks for the words with exactly these blanks.
var jinjaHeader = regexp.MustCompile(`(?i)^\s*## template: (\S+)[^\n]*\n`)

// render gives a part with its template filled in; a part without the header is given back as it is.
func (c *Config) render(body []byte, data Metadata) ([]byte, error) {
	m := jinjaHeader.FindSubmatchIndex(body)
	if m == nil {
		return body, nil
	}
	if kind := strings.ToLower(string(body[m[2]:m[3]])); kind != "jinja" {
		return nil, fmt.Errorf("user data asks for template renderer %q: only jinja is there", kind)
	}
	out, missing, err := fill(string(body[m[1]:]), data)
	if err != nil {
		return nil, fmt.Errorf("failed to render the jinja template of the user data: %w", err)
	}
	if len(missing) > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("could not render jinja template variables in the user data: %s",
			strings.Join(missing, ", ")))
	}
	return []byte(out), nil
}

// missingPrefix is the prefix that cloud-init writes in place of an unknown variable.
const missingPrefix = "CI_MISSING_JINJA_VAR/"

// fill replaces expressions, drops comments and keeps raw blocks. Statements other than raw are refused rather than guessed.
func fill(s string, data Metadata) (out string, missing []string, err error) {
	var b strings.Builder
	for {
		i := nextTag(s)
		if i < 0 {
			b.WriteString(s)
			return b.String(), missing, nil
		}
		b.WriteString(s[:i])
		open, end := s[i:i+2], closing[s[i:i+2]]
		inner, rest, found := cutTag(s[i+2:], open)
		if !found {
			return "", nil, fmt.Errorf("%s is not closed by %s", open, end)
		}
		s = rest
		switch open {
		case "{{":
			v, name, err := evaluate(inner, data)
			if err != nil {
				return "", nil, err
			}
			if name != "" {
				missing = append(missing, name)
			}
			b.WriteString(v)
		case "{%":
			raw, rest, err := rawBlock(inner, s)
			if err != nil {
				return "", nil, err
			}
			b.WriteString(raw)
			s = rest
		}
	}
}

// inExpression is an expression up to its end, strings within it whole, for they may hold braces.
var inExpression = regexp.MustCompile(`^(?:'[^']*'|"[^"]*"|[^'"])*?}}`)

// cutTag gives what a tag holds and what comes behind it.
func cutTag(s, open string) (inner, rest string, found bool) {
	if open != "{{" {
		return strings.Cut(s, closing[open])
	}
	m := inExpression.FindString(s)
	if m == "" {
		return "", "", false
	}
	return m[:len(m)-len("}}")], s[len(m):], true
}

var closing = map[string]string{"{{": "}}", "{%": "%}", "{#": "#}"}

// nextTag is the index of the next opening tag, or -1.
func nextTag(s string) int {
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '{' && closing[s[i:i+2]] != "" {
			return i
		}
	}
	return -1
}

// endRaw ends a raw block, with or without jinja's whitespace marks.
var endRaw = regexp.MustCompile(`\{%[-+]?\s*endraw\s*[-+]?%\}`)

// rawBlock gives what follows a raw statement, unrendered, and the rest behind it.
func rawBlock(statement, s string) (raw, rest string, err error) {
	word := strings.Trim(statement, "-+ \t\n")
	if word != "raw" {
		return "", "", fmt.Errorf("statement {%% %s %%} is not supported: only expressions, comments and raw blocks are", clip(word))
	}
	m := endRaw.FindStringIndex(s)
	if m == nil {
		return "", "", fmt.Errorf("a raw block is not closed by endraw")
	}
	return s[:m[0]], s[m[1]:], nil
}

// reference is a dotted or subscripted name, or a quoted string, which jinja prints as it is.
var (
	reference = regexp.MustCompile(`^[A-Za-z_]\w*(?:\s*\.\s*\w+|\s*\[\s*(?:'[^']*'|"[^"]*")\s*\])*$`)
	step      = regexp.MustCompile(`\w+|'[^']*'|"[^"]*"`)
	literal   = regexp.MustCompile(`^(?:'[^'\\]*'|"[^"\\]*")$`)
	// divided is a variable, the separator that its text is split at, and the number of the part.
	divided = regexp.MustCompile(`^(.+?)\s*\.\s*split\(\s*(?:'([^'\\]+)'|"([^"\\]+)")\s*\)\s*\[\s*(\d{1,3})\s*\]$`)
)

// evaluate gives the text of one expression. A name that the metadata does not hold is given back as missing.
func evaluate(expr string, data Metadata) (text, missing string, err error) {
	expr = strings.Trim(strings.TrimSpace(strings.Trim(expr, "-+")), " ")
	if literal.MatchString(expr) {
		return expr[1 : len(expr)-1], "", nil
	}
	if m := divided.FindStringSubmatch(expr); m != nil {
		return evaluatePart(m[1], m[2]+m[3], m[4], data)
	}
	if !reference.MatchString(expr) {
		return "", "", fmt.Errorf("expression {{ %s }} is not supported: want a variable such as ds.meta_data.local_hostname", clip(expr))
	}
	var path []string
	for _, s := range step.FindAllString(expr, -1) {
		path = append(path, strings.ReplaceAll(strings.Trim(s, `'"`), "-", "_"))
	}
	if v, ok := data.lookUp(path); ok {
		return v, "", nil
	}
	return missingPrefix + strings.Join(path, "."), strings.Join(path, "."), nil
}

// evaluatePart gives one part of a variable's text.
func evaluatePart(variable, separator, number string, data Metadata) (text, missing string, err error) {
	text, missing, err = evaluate(variable, data)
	if err != nil || missing != "" {
		return text, missing, err
	}
	parts := strings.Split(text, separator)
	n, err := strconv.Atoi(number)
	if err != nil || n >= len(parts) {
		return "", "", fmt.Errorf("expression {{ %s }} asks for part %s of %d", clip(variable), number, len(parts))
	}
	return parts[n], "", nil
}

// lookUp follows a path, and once more below v1, whose names cloud-init lifts to the top.
func (m Metadata) lookUp(path []string) (string, bool) {
	if v, ok := follow(map[string]any(m), path); ok {
		return v, true
	}
	v1, _ := m["v1"].(map[string]any)
	return follow(v1, path)
}

func follow(tree map[string]any, path []string) (string, bool) {
	var at any = tree
	for _, p := range path {
		m, ok := at.(map[string]any)
		if !ok {
			return "", false
		}
		if at, ok = m[p]; !ok {
			return "", false
		}
	}
	switch v := at.(type) {
	case string:
		return v, true
	case int:
		return strconv.Itoa(v), true
	default:
		return "", false
	}
}

// clip keeps an error from quoting more than a name's worth of user data.
func clip(s string) string {
	const limit = 40
	s = strings.ToValidUTF8(strings.TrimSpace(s), "?")
	if len(s) > limit {
		return strings.ToValidUTF8(s[:limit], "") + "..."
	}
	return s
}
