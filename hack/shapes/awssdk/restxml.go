package awssdk

import (
	"regexp"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/core/shapes"
)

var (
	xmlRoute = regexp.MustCompile(`(?s)func \(m \*awsRestxml_serializeOp(\w+)\) HandleSerialize\(.*?` +
		`SplitURI\("([^"]*)"\).*?request\.Method = "(\w+)"`)
	bindings = regexp.MustCompile(`(?ms)^func awsRestxml_serializeOpHttpBindings(\w+)Input\(.*?^}`)
	header   = regexp.MustCompile(`v\.(\w+)[^\n]*\{\n\s*locationName := "([^"]+)"\n\s*encoder\.SetHeader\(`)
	query    = regexp.MustCompile(`encoder\.SetQuery\("([^"]+)"\)`)
)

// xmlOperations returns the operations of S3, whose parameters are in paths, queries and headers. The bucket is in the path or in the name
// of the host.
func xmlOperations(from texts, required map[string][]string) map[string]shapes.Operation {
	all := map[string]shapes.Operation{}
	for _, r := range xmlRoute.FindAllStringSubmatch(from.serializers, -1) {
		path, fixed, _ := strings.Cut(r[2], "?")
		o := shapes.Operation{Method: r[3], Path: "/{Bucket}" + path}
		for part := range strings.SplitSeq(fixed, "&") {
			if name, _, _ := strings.Cut(part, "="); name != "" {
				o.Query = append(o.Query, name)
			}
		}
		all[r[1]] = o
	}
	for _, f := range bindings.FindAllStringSubmatch(from.serializers, -1) {
		o := all[f[1]]
		o.Query = append(o.Query, firstGroups(query, f[0])...)
		for _, h := range header.FindAllStringSubmatch(f[0], -1) {
			if slices.Contains(required[f[1]+"Input"], h[1]) {
				h[2] = "*" + h[2]
			}
			o.Headers = append(o.Headers, h[2])
		}
		slices.Sort(o.Query)
		slices.Sort(o.Headers)
		all[f[1]] = o
	}
	return all
}
