package azuresdk

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/core/shapes"
)

var (
	clientFunction = regexp.MustCompile(`(?ms)^func \(client \*(\w+)Client\) (\w+)\(([^\n]*)\{\n.*?^}`)
	urlPath        = regexp.MustCompile(`urlPath := "([^"]+)"`)
	httpMethod     = regexp.MustCompile(`runtime\.NewRequest\(ctx, http\.Method(\w+)`)
	queryName      = regexp.MustCompile(`(?:reqQP\.Set\("|unencodedParams, ")([^"=]+)=?"[,+] ?([^\n]*)\)`)
	headerName     = regexp.MustCompile(`Header\["(If-[\w-]+)"\]`)
	bodyName       = regexp.MustCompile(`runtime\.MarshalAsJSON\(req, (\w+)\)`)
	answerType     = regexp.MustCompile(`(?m)^type (\w+Response) struct \{\n(?:\t//.*\n)*\t(\w+)\n`)
	sentBy         = regexp.MustCompile(`client\.(\w+)CreateRequest\(`)
	codes          = regexp.MustCompile(`(?:HasStatusCode|HandleResponse)\(\w+, (http\.[^)]*)\)`)
	versionConst   = regexp.MustCompile(`(version\d+)\s+string = "([^"]+)"`)
)

var statusCodes = map[string]int{"http.StatusOK": 200, "http.StatusCreated": 201, "http.StatusAccepted": 202, "http.StatusNoContent": 204}

// readClients reads the operations of all clients of a module.
func readClients(dir string) (map[string]shapes.Operation, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*_client.go"))
	if err != nil {
		return nil, err
	}
	versions, answers, err := readVersions(dir)
	if err != nil {
		return nil, err
	}
	out := map[string]shapes.Operation{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read a client: %w", err)
		}
		maps.Copy(out, readClient(string(text), versions, answers))
	}
	return out, nil
}

// readVersions reads the constants of versions by their names, and the types of answers by those of responses.
func readVersions(dir string) (versions, answers map[string]string, err error) {
	constants, err := os.ReadFile(filepath.Join(dir, "constants.go"))
	if err != nil {
		return nil, nil, fmt.Errorf("read the constants: %w", err)
	}
	versions, answers = map[string]string{}, map[string]string{}
	for _, m := range versionConst.FindAllStringSubmatch(string(constants), -1) {
		versions[m[1]] = m[2]
	}
	for _, name := range []string{"responses.go", "response_types.go"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !os.IsNotExist(err) {
			return nil, nil, fmt.Errorf("read the answers: %w", err)
		}
		for _, m := range answerType.FindAllStringSubmatch(string(text), -1) {
			answers[m[1]] = m[2]
		}
	}
	return versions, answers, nil
}

// readClient reads the operations of a client by their names, such as VirtualMachines_Get.
func readClient(text string, versions, answers map[string]string) map[string]shapes.Operation {
	out := map[string]shapes.Operation{}
	success := map[string][]int{}
	functions := clientFunction.FindAllStringSubmatch(text, -1)
	for _, f := range functions {
		if m := sentBy.FindStringSubmatch(f[0]); m != nil {
			success[m[1]] = append(success[m[1]], codesIn(f[0])...)
		}
	}
	for _, f := range functions {
		name, ok := strings.CutSuffix(f[2], "CreateRequest")
		if !ok {
			continue
		}
		o := readRequest(f[0], f[3], versions)
		o.Success, o.Answer = success[name], answers[name]
		slices.Sort(o.Success)
		o.Success = slices.Compact(o.Success)
		if len(o.Success) == 0 { // a pager's
			o.Success = []int{200}
		}
		title := strings.ToUpper(name[:1]) + name[1:]
		o.Answer = answers[f[1]+"Client"+title+"Response"]
		out[f[1]+"_"+title] = o
	}
	return out
}

// readRequest reads the function that makes an operation's request.
func readRequest(text, parameters string, versions map[string]string) shapes.Operation {
	var o shapes.Operation
	if m := urlPath.FindStringSubmatch(text); m != nil {
		o.Path = m[1]
	}
	o.Path = strings.Replace(o.Path, "/{scope}/", "*/", 1) // a scope has several parts
	if m := httpMethod.FindStringSubmatch(text); m != nil {
		o.Method = strings.ToUpper(m[1])
	}
	for _, m := range queryName.FindAllStringSubmatch(text, -1) {
		if m[1] != "api-version" {
			o.Query = append(o.Query, m[1])
			continue
		}
		version, err := strconv.Unquote(m[2])
		if err != nil {
			version = versions[m[2]]
		}
		o.Version = version
	}
	for _, m := range headerName.FindAllStringSubmatch(text, -1) {
		o.Headers = append(o.Headers, m[1])
	}
	if m := bodyName.FindStringSubmatch(text); m != nil {
		if typ := regexp.MustCompile(`\b` + m[1] + ` ([\w.]+)[,)]`).FindStringSubmatch(parameters); typ != nil {
			o.Body = typ[1]
		}
	}
	return o
}

// codesIn are the codes of success that a function accepts.
func codesIn(text string) []int {
	var out []int
	for _, m := range codes.FindAllStringSubmatch(text, -1) {
		for code := range strings.SplitSeq(m[1], ",") {
			out = append(out, statusCodes[strings.TrimSpace(code)])
		}
	}
	return out
}
