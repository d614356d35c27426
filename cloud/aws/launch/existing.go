package launch

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/ptr"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// fieldExisting is the template that the user maintains.
const fieldExisting = Field + ".existing"

// given is a user-managed launch template: it is read, and never written.
type given struct {
	// asked is the reference in the specification when it was read.
	asked awsv1.ExistingLaunchTemplate
	// missing says which field names something that does not exist; empty when all is there.
	missing string
	// seen are the refs that something launches from.
	seen []string
	// launches holds by ref the digests (launchesOf) of the versions that the specification named and of those that machines were launched
	// from; the digest of a version that does not exist is empty. Versions are immutable, so that none is read twice.
	launches map[string]string
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
		return p.readLaunched(ctx, refs)
	}
	found, err := p.Session.EC2.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{
		LaunchTemplateId: asked.ID, LaunchTemplateName: asked.Name, Versions: []string{strconv.FormatInt(asked.Version, 10)},
	})
	if err = session.Refusal(err, p.Now); err != nil && cloud.KindOf(err) != cloud.Invalid && !session.Absent(err) {
		return err
	}
	read := Memory{at: p.Now, now: p.Now, Wrote: m.Wrote, given: &given{asked: asked, seen: refs, launches: map[string]string{}}}
	if m.given != nil {
		read.given.launches = m.given.launches
	}
	if err == nil && len(found.LaunchTemplateVersions) > 0 {
		v := versionOf(found.LaunchTemplateVersions[0])
		v.Template = givenTemplate(v.Ref)
		read.id, read.versions = ptr.Deref(found.LaunchTemplateVersions[0].LaunchTemplateId, ""), []version{v}
		read.given.launches[v.Ref] = launchesOf(found.LaunchTemplateVersions[0])
	} else {
		read.given.missing = missingField(asked, err)
	}
	*m = read
	return p.readLaunched(ctx, refs)
}

// readLaunched reads those versions of the refs that have not been read, in one call a template. It reads none where the template decides
// the instance type: there every other version counts as different.
func (p Pass) readLaunched(ctx context.Context, refs []string) error {
	if len(p.Source.Types) == 0 || p.Source.Managed {
		return nil
	}
	launches := p.Memory.given.launches
	maps.DeleteFunc(launches, func(ref, _ string) bool { return ref != p.Memory.latest().Ref && !slices.Contains(refs, ref) })
	unread := map[string][]string{}
	for _, ref := range session.Unique(refs) {
		if _, read := launches[ref]; read || !givenTemplate(ref).UserManaged {
			continue
		}
		if id, number, err := ParseRef(ref); err == nil {
			unread[id] = append(unread[id], number)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(unread)) {
		if err := p.Memory.given.read(ctx, p.Session, p.Now, id, unread[id]); err != nil {
			return err
		}
	}
	return nil
}

// read reads versions of one template. EC2 refuses a list that names one that does not exist: then each is read alone.
func (g *given) read(ctx context.Context, s *session.Session, now time.Time, id string, numbers []string) error {
	found, err := listVersions(ctx, s, now, &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: &id, Versions: numbers})
	if cloud.CodeOf(err) == codeNoVersion && len(numbers) > 1 {
		for _, number := range numbers {
			if err := g.read(ctx, s, now, id, []string{number}); err != nil {
				return err
			}
		}
		return nil
	}
	if err != nil && cloud.KindOf(err) != cloud.Invalid && !session.Absent(err) {
		return err
	}
	for _, number := range numbers {
		g.launches[Ref(id, number)] = ""
	}
	for _, v := range found {
		g.launches[versionOf(v).Ref] = launchesOf(v)
	}
	return nil
}

// launchesOf returns the digest of all that a version launches, user data and tags included, without the instance type.
func launchesOf(v ec2types.LaunchTemplateVersion) string {
	if v.LaunchTemplateData == nil {
		return ""
	}
	text, err := json.Marshal(encodeStruct(reflect.ValueOf(asSent(*v.LaunchTemplateData)), map[string]bool{partType: true}))
	if err != nil {
		return ""
	}
	return cloud.Digest(text, contentLength)
}

// sameGivenButType returns a function that reports whether a version launches the same as the wanted one, the instance type aside.
func (m *Memory) sameGivenButType(want string) func(ref string) bool {
	launches := m.given.launches
	return func(ref string) bool { return launches[ref] != "" && launches[ref] == launches[want] }
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
