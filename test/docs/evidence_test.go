package docs

import (
	"flag"
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/muster-project/muster/sim/aws/autoscaling"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/eks"
	"github.com/muster-project/muster/sim/aws/iam"
	azurecompute "github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/sim/evidence"
	gcpcompute "github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/sim/scaleway"
)

var update = flag.Bool("update", false, "write the tables of docs/evidence.md")

// beliefs are the rows by the folder that declares them.
var beliefs = map[string]func() []evidence.Row{
	"sim/aws/autoscaling": autoscaling.Beliefs, "sim/aws/ec2": ec2.Beliefs, "sim/aws/eks": eks.Beliefs, "sim/aws/iam": iam.Beliefs,
	"sim/azure/compute":          azurecompute.Beliefs,
	"sim/azure/containerservice": containerservice.Beliefs, "sim/gcp/compute": gcpcompute.Beliefs, "sim/gcp/container": container.Beliefs,
	"sim/scaleway": scaleway.Beliefs,
}

// allBeliefs returns all rows.
func allBeliefs() (all []evidence.Row) {
	for _, rows := range beliefs {
		all = append(all, rows()...)
	}
	return all
}

// behavior matches the names of structs whose fields choose or declare a behaviour.
var behavior = regexp.MustCompile(`^\w*Behaviou?r$`)

// TestEvidence holds that docs/evidence.md has the rows of the simulators, that every row names its source, and that every field of the
// simulators by which a behaviour is chosen or declared has a row. With -args -update it writes the tables.
func TestEvidence(t *testing.T) {
	t.Parallel()
	rows := allBeliefs()
	if err := evidence.Check(rows); err != nil {
		t.Error(err)
	}
	fields, folders := declaredInSim(t)
	for _, folder := range folders {
		if beliefs[folder] == nil {
			t.Errorf("%s declares Beliefs: add it to the folders of this test", folder)
		}
	}
	listed := map[string]bool{}
	for _, r := range rows {
		listed[r.Field] = true
		if _, exists := fields[r.Field]; r.Field != "" && !exists {
			t.Errorf("%s: %s: the simulators have no field %s", r.Service, r.Behavior, r.Field)
		}
	}
	for field, isBehavior := range fields {
		if isBehavior && !listed[field] {
			t.Errorf("%s: want a row of the behaviour in Beliefs of the simulator", field)
		}
	}
	checkPage(t, evidence.Markdown(rows))
}

// TestRecordingsOfEvidence holds that the recordings that rows name exist.
func TestRecordingsOfEvidence(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(root, "..", "shared", "recordings")
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no recordings: %v", err)
	}
	for _, r := range allBeliefs() {
		if r.Grade != evidence.GradeRecorded || strings.Contains(r.Source, ":") { // those of other repositories
			continue
		}
		if _, err := os.Stat(filepath.Join(folder, r.Source+".json")); err != nil {
			t.Errorf("%s: %s: %v", r.Service, r.Behavior, err)
		}
	}
}

// checkPage compares the tables with those of docs/evidence.md.
func checkPage(t *testing.T, tables string) {
	t.Helper()
	const begins, ends = "<!-- beliefs -->\n", "<!-- end of beliefs -->\n"
	page := filepath.Join(root, "docs", "evidence.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begun := strings.Cut(string(text), begins)
	_, tail, ended := strings.Cut(rest, ends)
	if !begun || !ended {
		t.Fatalf("%s: want the tables between %q and %q", page, begins, ends)
	}
	want := head + begins + "\n" + tables + "\n" + ends + tail
	switch {
	case string(text) == want:
	case *update:
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("docs/evidence.md differs from the rows: run go test ./test/docs -run TestEvidence -args -update")
	}
}

// declaredInSim returns the fields of the structs of the simulators that are named Behavior or Options, as "package.Type.Field", true for
// those of behaviour, and the folders with a function Beliefs.
func declaredInSim(t *testing.T) (fields map[string]bool, folders []string) {
	t.Helper()
	fields = map[string]bool{}
	files := os.DirFS(root)
	err := fs.WalkDir(files, "sim", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, ".gen.go") {
			return err
		}
		parsed, err := parsedGo(files, file)
		if err != nil {
			return err
		}
		for _, decl := range parsed.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "Beliefs" {
					folders = append(folders, filepath.Dir(file))
				}
			case *ast.GenDecl:
				fieldsOf(d, parsed.Name.Name, fields)
			}
		}
		return nil
	})
	if err != nil || len(folders) == 0 {
		t.Fatalf("want functions Beliefs in sim, got %v, %v", folders, err)
	}
	return fields, folders
}

// fieldsOf adds the fields of the structs of a declaration.
func fieldsOf(d *ast.GenDecl, pkg string, fields map[string]bool) {
	for _, spec := range d.Specs {
		named, is := spec.(*ast.TypeSpec)
		if !is || named.Name.Name != "Options" && !behavior.MatchString(named.Name.Name) {
			continue
		}
		if s, is := named.Type.(*ast.StructType); is {
			for _, f := range s.Fields.List {
				for _, name := range f.Names {
					fields[pkg+"."+named.Name.Name+"."+name.Name] = named.Name.Name != "Options"
				}
			}
		}
	}
}

// TestEvidenceRefusesRows holds what a row needs.
func TestEvidenceRefusesRows(t *testing.T) {
	t.Parallel()
	whole := evidence.Assumed("is so").Switch("p.Options.X", "is not")
	for why, rows := range map[string][]evidence.Row{
		"no service":                {whole},
		"no behaviour":              evidence.Of("s", evidence.Assumed("")),
		"no source":                 evidence.Of("s", evidence.Recorded("is so", "")),
		"another answer by nothing": evidence.Of("s", evidence.Assumed("is so").Switch("", "is not")),
		"the same row twice":        evidence.Of("s", whole, evidence.Observed("is so", "a client")),
	} {
		if evidence.Check(rows) == nil {
			t.Errorf("%s: want an error", why)
		}
	}
	if err := evidence.Check(evidence.Of("s", whole)); err != nil {
		t.Error(err)
	}
}
