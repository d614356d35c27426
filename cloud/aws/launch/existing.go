package launch

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"k8s.io/utils/ptr"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// fieldExisting is the template that the user maintains.
const fieldExisting = Field + ".existing"

// given is what is known of a launch template that was brought: it is read, and never written to.
type given struct {
	// asked is what the specification named when it was read.
	asked awsv1.ExistingLaunchTemplate
	// missing says which field names something that does not exist; empty when all is there.
	missing string
	// seen are the refs that something launches from.
	seen []string
}

// holds reports whether what is asked for was read and is there.
func (g *given) holds(asked awsv1.ExistingLaunchTemplate) bool {
	return g != nil && g.missing == "" && g.asked.Version == asked.Version &&
		ptr.Deref(g.asked.ID, "") == ptr.Deref(asked.ID, "") && ptr.Deref(g.asked.Name, "") == ptr.Deref(asked.Name, "")
}

// readGiven makes sure of the version that was brought, slowly when it is there.
func (p Pass) readGiven(ctx context.Context, refs []string) error {
	asked := *p.Source.Spec.Existing
	m := p.Memory
	if m.Known() && p.Now.Sub(m.at) < session.SlowPeriod && m.given.holds(asked) {
		m.given.seen = refs
		return nil
	}
	found, err := p.Session.EC2.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{
		LaunchTemplateId: asked.ID, LaunchTemplateName: asked.Name, Versions: []string{strconv.FormatInt(asked.Version, 10)},
	})
	if err = session.Refusal(err, p.Now); err != nil && cloud.KindOf(err) != cloud.Invalid && !session.Absent(err) {
		return err
	}
	read := Memory{at: p.Now, now: p.Now, Wrote: m.Wrote, given: &given{asked: asked, seen: refs}}
	if err == nil && len(found.LaunchTemplateVersions) > 0 {
		v := versionOf(found.LaunchTemplateVersions[0])
		v.Template = givenTemplate(v.Ref)
		read.id, read.versions = ptr.Deref(found.LaunchTemplateVersions[0].LaunchTemplateId, ""), []version{v}
	} else {
		read.given.missing = missingField(asked, err)
	}
	*m = read
	return nil
}

// missingField is the field that names what does not exist.
func missingField(asked awsv1.ExistingLaunchTemplate, refused error) string {
	switch {
	case refused == nil || cloud.CodeOf(refused) == codeNoVersion:
		return fieldExisting + ".version"
	case asked.ID != nil:
		return fieldExisting + ".id"
	}
	return fieldExisting + ".name"
}

// wantGiven is the version that was brought. For a node group it says for which processor it is, for EKS's image depends on that.
func (p Pass) wantGiven(ctx context.Context, look *session.Resolver) (Want, error) {
	asked := p.Source.Spec.Existing
	if p.Memory.given == nil || p.Memory.given.missing != "" || len(p.Memory.versions) == 0 {
		field := fieldExisting
		if p.Memory.given != nil {
			field = cmp.Or(p.Memory.given.missing, field)
		}
		return Want{}, cloud.Invalidf(field, "there is no version %d of launch template %s in region %s: name one that exists",
			asked.Version, cmp.Or(ptr.Deref(asked.ID, ""), ptr.Deref(asked.Name, "")), p.Session.Region)
	}
	want := Want{Template: p.Memory.versions[0].Template}
	if !p.Source.Managed {
		return want, nil
	}
	s := p.Source
	s.Spec = &awsv1.AWSLaunchTemplate{InstanceType: p.Memory.broughtPart("InstanceType")}
	var err error
	want.Architecture, want.Capacity, err = s.Machines(ctx, look)
	return want, err
}

// BringsImage reports whether the version that was brought names an image, as far as it has been read.
func (m *Memory) BringsImage() bool { return m.broughtPart("ImageId") != "" }

// broughtPart is a single value of the version that was brought, empty where it has none.
func (m *Memory) broughtPart(name string) string {
	if m.given == nil || len(m.versions) == 0 {
		return ""
	}
	return m.versions[0].parts[name].leaves[""]
}

// givenTemplate is the version of a ref of a template that was brought. Its content is which version it is, for a version never
// changes; a ref that moves has none.
func givenTemplate(ref string) pool.Template {
	_, number, err := ParseRef(ref)
	if _, parseErr := strconv.ParseInt(number, 10, 64); err != nil || parseErr != nil {
		return pool.Template{Ref: ref}
	}
	text, _ := json.Marshal(map[string]string{"existing": ref})
	return pool.Template{Ref: ref, Content: algorithm + ":" + cloud.Digest(text, contentLength), UserManaged: true}
}

// givenVersions are the version that was brought, and those that something launches from still.
func (m *Memory) givenVersions() []pool.Template {
	var list []pool.Template
	for _, v := range m.versions {
		list = append(list, v.Template)
	}
	for _, ref := range m.given.seen {
		t := givenTemplate(ref)
		if t.UserManaged && !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return list
}
