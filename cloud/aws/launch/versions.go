package launch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// Ref is the name of a template's version within pool: "lt-0abc:3".
func Ref(id, version string) string { return id + ":" + version }

// ParseRef takes a ref apart.
func ParseRef(text string) (id, version string, err error) {
	id, version, ok := strings.Cut(text, ":")
	if !ok || id == "" || version == "" {
		return "", "", fmt.Errorf("launch template %q: want an ID and a version, as in lt-0123:4", text)
	}
	return id, version, nil
}

// versionsMost bounds how many versions are read: far more than pruning leaves.
const versionsMost = 1000

// Read reads the launch template and its versions, unless they are known and none of the refs is to an unknown one. The refs
// are what the group and its instances launch from, as far as the group is ours.
func (p Pass) Read(ctx context.Context, refs []string) error {
	p.Memory.now = p.Now
	if p.Source.Spec.Existing != nil {
		return p.readGiven(ctx, refs)
	}
	if p.Memory.given != nil {
		// What was brought says nothing of a template of the pool's own.
		*p.Memory = Memory{now: p.Now, Wrote: p.Memory.Wrote}
	}
	if !p.Memory.Known() || p.refersToUnknown(refs) {
		return p.read(ctx, refs)
	}
	return p.readAgain(ctx, refs)
}

// readAgain reads slowly what is known: the template and its versions in passes of their own, so that no pass reads much.
func (p Pass) readAgain(ctx context.Context, refs []string) error {
	m := p.Memory
	age, seen := p.Now.Sub(m.at), p.Now.Sub(m.seen)
	switch long := max(age, seen); {
	case long < session.SlowPeriod:
		return nil
	case !m.ours || long >= 2*session.SlowPeriod:
		return p.read(ctx, refs)
	case age >= session.SlowPeriod:
		versions, err := p.readVersions(ctx, m.id)
		if session.Absent(err) {
			return p.read(ctx, refs)
		}
		if err != nil {
			return err
		}
		m.versions, m.at = versions, p.Now
		m.gone = m.unknown(refs)
		return nil
	default:
		id, ours, err := p.readOwner(ctx)
		if err == nil && (id != m.id || !ours) {
			return p.read(ctx, refs)
		}
		if err == nil {
			m.seen = p.Now
		}
		return err
	}
}

// readOwner asks which template has the name, and whether it is ours.
func (p Pass) readOwner(ctx context.Context) (id string, ours bool, err error) {
	found, err := p.Session.EC2.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{p.Source.Name}})
	if err = session.Refusal(err, p.Now); err != nil && !session.Absent(err) {
		return "", false, err
	}
	if err != nil || len(found.LaunchTemplates) == 0 {
		return "", false, nil
	}
	template := found.LaunchTemplates[0]
	return session.Deref(template.LaunchTemplateId), session.TaggedFor(template.Tags, session.TagOwner, p.Source.Owner), nil
}

func (p Pass) read(ctx context.Context, refs []string) error {
	read := Memory{at: p.Now, seen: p.Now, now: p.Now, Wrote: p.Memory.Wrote, objects: p.Memory.objects, made: p.Memory.made}
	var err error
	if read.id, read.ours, err = p.readOwner(ctx); err != nil {
		return err
	}
	if read.id == "" && p.Now.Sub(read.made) < session.VisibleWithin {
		// To believe it would let the object go, and leave the template.
		return &cloud.Error{Kind: cloud.Conflict, Code: "TemplateNotShown", Message: fmt.Sprintf(
			"launch template %s was made a moment ago and is not shown yet", p.Source.Name)}
	}
	if read.ours {
		if read.versions, err = p.readVersions(ctx, read.id); err != nil && !session.Absent(err) {
			return err
		}
	}
	*p.Memory = read
	p.Memory.gone = p.Memory.unknown(refs)
	return nil
}

// refersToUnknown says whether something names a version that is not known, nor known to be gone.
func (p Pass) refersToUnknown(refs []string) bool {
	for ref := range p.Memory.unknown(refs) {
		if !p.Memory.gone[ref] {
			return true
		}
	}
	return false
}

// name of the template in the cloud, whoever keeps it.
func (s Source) name() string {
	if e := s.Spec.Existing; e != nil {
		return session.Deref(e.Name)
	}
	return s.Name
}

// RefOf is the ref of what a group or an instance says about its template: "lt-0abc:$Latest" is possible for a group that
// somebody changed by hand.
func (p Pass) RefOf(id, name, version *string) string {
	of := session.Deref(id)
	if of == "" && session.Deref(name) == p.Source.name() {
		of = p.Memory.id
	}
	return Ref(cmp.Or(of, session.Deref(name)), cmp.Or(session.Deref(version), "$Default"))
}

// readVersions reads all versions of the template.
func (p Pass) readVersions(ctx context.Context, id string) ([]version, error) {
	pages := ec2.NewDescribeLaunchTemplateVersionsPaginator(p.Session.EC2, &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: &id})
	found, err := session.Listed(ctx, pages, func(page *ec2.DescribeLaunchTemplateVersionsOutput) []ec2types.LaunchTemplateVersion {
		return page.LaunchTemplateVersions
	}, versionsMost, p.Now)
	if err != nil {
		return nil, err
	}
	versions := make([]version, 0, len(found))
	for _, v := range found {
		versions = append(versions, versionOf(v))
	}
	slices.SortFunc(versions, func(a, b version) int { return cmp.Compare(b.number, a.number) })
	return versions, nil
}

func versionOf(v ec2types.LaunchTemplateVersion) version {
	number := session.Deref(v.VersionNumber)
	content, data, about := undescribe(session.Deref(v.VersionDescription))
	out := version{number: number, Template: pool.Template{
		Ref: Ref(session.Deref(v.LaunchTemplateId), strconv.FormatInt(number, 10)), Content: content, Data: data, About: about, Fixed: session.Deref(v.DefaultVersion),
	}}
	if v.LaunchTemplateData != nil {
		out.parts, out.pointer = partsOf(*v.LaunchTemplateData), pointerOf(v.LaunchTemplateData.UserData)
		out.whole = isData(v.LaunchTemplateData.UserData, data)
	}
	return out
}
