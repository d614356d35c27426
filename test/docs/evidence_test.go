package docs

import (
	"flag"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/sim/aws/autoscaling"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/eks"
	"github.com/muster-project/muster/sim/aws/iam"
	azurecompute "github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/azure/containerservice"
	simcore "github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/evidence"
	gcpcompute "github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/container"
	ocicompute "github.com/muster-project/muster/sim/oci/compute"
	"github.com/muster-project/muster/sim/oci/containerengine"
	"github.com/muster-project/muster/sim/oci/rest"
	"github.com/muster-project/muster/sim/scaleway"
)

var update = flag.Bool("update", false, "write the tables of docs/evidence.md")

// beliefs are the rows by the folder that declares them.
var beliefs = map[string]func() []evidence.Row{
	"sim/core": simcore.Beliefs, "sim/aws/autoscaling": autoscaling.Beliefs, "sim/aws/ec2": ec2.Beliefs, "sim/aws/eks": eks.Beliefs,
	"sim/aws/iam": iam.Beliefs, "sim/azure/compute": azurecompute.Beliefs,
	"sim/azure/containerservice": containerservice.Beliefs, "sim/gcp/compute": gcpcompute.Beliefs, "sim/gcp/container": container.Beliefs,
	"sim/oci/compute":         ocicompute.Beliefs,
	"sim/oci/containerengine": containerengine.Beliefs, "sim/oci/rest": rest.Beliefs, "sim/scaleway": scaleway.Beliefs,
}

// allBeliefs returns all rows.
func allBeliefs() (all []evidence.Row) {
	for _, rows := range beliefs {
		all = append(all, rows()...)
	}
	return all
}

// behavior matches the names of structs whose fields declare a behaviour.
var behavior = regexp.MustCompile(`^\w*Behaviou?r$`)

// TestEvidence holds that docs/evidence.md has the rows of the simulators, that every row names its source, that every assumption has a
// switch, and that every switch and every field of the simulators by which a behaviour is declared has a row. With -args -update it writes
// the tables.
func TestEvidence(t *testing.T) {
	t.Parallel()
	rows := allBeliefs()
	if err := evidence.Check(rows); err != nil {
		t.Error(err)
	}
	fields, switches, folders := declaredInSim(t)
	for _, folder := range folders {
		if beliefs[folder] == nil {
			t.Errorf("%s declares Beliefs: add it to the folders of this test", folder)
		}
	}
	listed := map[string]bool{}
	for _, r := range rows {
		listed[r.Field], listed[string(r.By)] = true, true
		if r.Grade == evidence.GradeAssumed && r.By == "" {
			t.Errorf("%s: %s: want a switch with the other plausible answer", r.Service, r.Behavior)
		}
		if r.Field != "" && !slices.Contains(fields, r.Field) || r.By != "" && !slices.Contains(switches, string(r.By)) {
			t.Errorf("%s: %s: the simulators have no %q or %q", r.Service, r.Behavior, r.Field, r.By)
		}
	}
	for _, name := range slices.Concat(fields, switches) {
		if !listed[name] {
			t.Errorf("%s: want a row of the behaviour in Beliefs of the simulator", name)
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

// declaredInSim returns the fields of the structs of the simulators that are named Behavior, as "package.Type.Field", the values of
// constants of type sim.Switch, and the folders with a function Beliefs.
func declaredInSim(t *testing.T) (fields, switches, folders []string) {
	t.Helper()
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
				fields = append(fields, fieldsOf(d, parsed.Name.Name)...)
				switches = append(switches, switchesOf(d)...)
			}
		}
		return nil
	})
	if err != nil || len(folders) == 0 {
		t.Fatalf("want functions Beliefs in sim, got %v, %v", folders, err)
	}
	return fields, switches, folders
}

// fieldsOf returns the fields of the structs of a declaration that declare a behaviour.
func fieldsOf(d *ast.GenDecl, pkg string) (fields []string) {
	for _, spec := range d.Specs {
		named, is := spec.(*ast.TypeSpec)
		if !is || !behavior.MatchString(named.Name.Name) {
			continue
		}
		if s, is := named.Type.(*ast.StructType); is {
			for _, f := range s.Fields.List {
				for _, name := range f.Names {
					fields = append(fields, pkg+"."+named.Name.Name+"."+name.Name)
				}
			}
		}
	}
	return fields
}

// switchesOf returns the values of the constants of a declaration that are switches.
func switchesOf(d *ast.GenDecl) (switches []string) {
	for _, spec := range d.Specs {
		v, is := spec.(*ast.ValueSpec)
		if !is || d.Tok != token.CONST {
			continue
		}
		if of, is := v.Type.(*ast.SelectorExpr); !is || of.Sel.Name != "Switch" {
			continue
		}
		for _, value := range v.Values {
			if text, is := value.(*ast.BasicLit); is {
				switches = append(switches, strings.Trim(text.Value, `"`))
			}
		}
	}
	return switches
}

// TestEvidenceRefusesRows holds what a row needs.
func TestEvidenceRefusesRows(t *testing.T) {
	t.Parallel()
	whole := evidence.Assumed("is so").Switch("x.X", "is not")
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
