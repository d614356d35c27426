package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// words maps the folder of a cloud to the names of the cloud and its services.
var words = map[string][]string{
	"aws":      {"aws", "eks"},
	"azure":    {"azure", "aks"},
	"gcp":      {"gcp", "gke"},
	"oci":      {"oci", "oke"},
	"scaleway": {"scaleway", "kapsule"},
	"toy":      {"toy"},
}

// registrations are the only files outside the clouds' own folders that may name a cloud.
var registrations = map[string]string{
	"hack/release/image.go":   "writes an image in the format of the Open Container Initiative, whose short name is also that of a cloud",
	"hack/shapes/readers.go":  "lists the readers of published descriptions",
	"local/clouds/all/all.go": "lists the local side of all clouds",
	"providers/all/all.go":    "lists the providers",
}

// named are files that still name a cloud. The list only shrinks: move what names a cloud into the cloud's own folders, then remove the
// file here.
var named = []string{
	"cloud/providerid.go",
	"kube/machinepool/contract/role.go",
	"sim/nodes/boot.go",
	"sim/nodes/cloudinit/jinja.go",
	"sim/nodes/nodeadm/nodeadm.go",
}

// TestNamesOfClouds holds that a cloud is named in its own folders alone, so that a new one is folders and a line in each registration.
func TestNamesOfClouds(t *testing.T) {
	t.Parallel()
	found := map[string]string{}
	for _, file := range sources(t) {
		if name := nameIn(t, file); name != "" {
			found[file] = name
		}
	}
	for _, file := range slices.Sorted(maps.Keys(found)) {
		if _, ok := registrations[file]; !ok && !slices.Contains(named, file) {
			t.Errorf("%s names a cloud (%s) outside the cloud's own folders: move that into a folder of the cloud, and range over the list of "+
				"clouds", file, found[file])
		}
	}
	for _, file := range append(slices.Sorted(maps.Keys(registrations)), named...) {
		if found[file] == "" {
			t.Errorf("%s is listed, but names no cloud or is gone: remove it from the list in names_test.go", file)
		}
	}
}

func TestWordsOfClouds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"AWSMachinePool": "aws", "awsNetwork": "aws", "newAWS": "aws", "AwsRegion": "aws", "sim/aws": "aws", "AWS_REGION": "aws",
		"capaEKS": "aws", "eks-mmp-0": "aws",
		"azuremachinepool": "azure", "isAzure": "azure", "AZURE_LOCATION": "azure", "management.azure.com": "azure", "GKECluster": "gcp",
		"an OKE pool": "oci",
		"bareOCID":    "oci", "SetGCPercent": "", "draws": "", "weeks": "", "laws of TOKENS": "", "breaks": "", "society": "", "WEEKS": "",
		"associate": "",
	} {
		if got := cloudIn(text, nil); got != want {
			t.Errorf("%q: want %q, got %q", text, want, got)
		}
	}
	if got := owners("kube/infrapool/awsmachinepool/adapter.go"); !slices.Equal(got, []string{"aws"}) {
		t.Errorf("want a folder whose name begins with a cloud's taken for that cloud's, got %v", got)
	}
	if got := owners("manager/azure.go"); len(got) != 0 {
		t.Errorf("want a file that is named after a cloud taken for no cloud's, got %v", got)
	}
}

// sources returns the Go files of the module without tests and the folder test.
func sources(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(allSources(t), func(file string) bool { return strings.HasPrefix(file, "test/") })
}

// allSources returns the files with Go code of the module, without files of tests.
func allSources(t *testing.T) []string {
	t.Helper()
	var files []string
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || rel != "." && strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(rel, ".go") && !strings.HasSuffix(rel, "_test.go"):
			files = append(files, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("want the module's sources, got %d, %v", len(files), err)
	}
	return files
}

// nameIn returns the first import path, identifier or string of a file that names a cloud whose own folders the file is not in.
func nameIn(t *testing.T, file string) string {
	t.Helper()
	path := filepath.Join("..", "..", filepath.FromSlash(file))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	own, found := owners(file), ""
	if cloudIn(string(text), own) == "" {
		return "" // not even in a comment: most files are not parsed
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		text := ""
		switch n := n.(type) {
		case *ast.Ident:
			text = n.Name
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				text = n.Value
			}
		}
		if found == "" && cloudIn(text, own) != "" {
			found = text
		}
		return found == ""
	})
	return found
}

// owners returns the clouds in whose own folders a file is: the name of such a folder begins with a word of the cloud.
func owners(file string) []string {
	var clouds []string
	folders := strings.Split(file, "/")
	for cloud, names := range words {
		if slices.ContainsFunc(folders[:len(folders)-1], func(folder string) bool {
			return slices.ContainsFunc(names, func(word string) bool { return strings.HasPrefix(folder, word) })
		}) {
			clouds = append(clouds, cloud)
		}
	}
	return clouds
}

// cloudIn returns a cloud that a text names and that own does not allow.
func cloudIn(text string, own []string) string {
	bytes := []byte(text)
	for i, c := range bytes {
		if 'A' <= c && c <= 'Z' {
			bytes[i] = c - 'A' + 'a'
		}
	}
	lower := string(bytes)
	for cloud, names := range words {
		if !slices.Contains(own, cloud) && slices.ContainsFunc(names, func(word string) bool { return isNamed(text, lower, word) }) {
			return cloud
		}
	}
	return ""
}

// isNamed reports whether a word begins where a word of the text or of an identifier in it does: aws, AWS or Aws.
func isNamed(text, lower, word string) bool {
	for from := 0; ; {
		at := strings.Index(lower[from:], word)
		if at < 0 {
			return false
		}
		at += from
		from = at + 1
		before, after := rune(0), rune(0)
		if at > 0 {
			before = rune(text[at-1])
		}
		if end := at + len(word); end < len(text) {
			after = rune(text[end])
		}
		switch text[at : at+len(word)] {
		case word:
			if !unicode.IsLetter(before) {
				return true
			}
		case strings.ToUpper(word):
			if !unicode.IsUpper(before) && !unicode.IsLower(after) {
				return true
			}
		case strings.ToUpper(word[:1]) + word[1:]:
			return true
		}
	}
}
