package cloud

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"github.com/muster-project/muster/pool"
)

// ReasonOwnershipConflict is the reason of a pool whose group is not its own.
const ReasonOwnershipConflict = "OwnershipConflict"

// TagDomain is the prefix of the names of all tags by which Muster recognises its own objects.
const TagDomain = "muster.dev"

// The names of the owner tags. A cloud that forbids the slash in names has another separator between the domain and the name.
const (
	TagOwner     = "owner"
	TagCluster   = "cluster"
	TagNamespace = "namespace"
	TagPool      = "pool"
)

// MemoryKey tells the owner apart in what a driver remembers: two objects may claim one ID, and what was read for one of them says nothing
// about the other.
func (o Owner) MemoryKey() string { return o.ID + "\n" + o.Key() }

// Spelling writes and reads owner tags in the form that one cloud allows.
type Spelling struct {
	// Key returns the key of a tag from its name without the domain.
	Key func(name string) string
	// Value returns a text as the value of a tag; nil where every text fits.
	Value func(text string) string
}

// Annotate returns the command that sets annotations of the owner's object: KEY=VALUE, or KEY- to remove one. Values may come from tags,
// which others than the reader of the command have written: the shell takes each as one word.
func (o Owner) Annotate(annotations ...string) string {
	command := fmt.Sprintf("kubectl annotate --overwrite --namespace %s %s %s", o.Namespace, o.Kind, o.Name)
	for _, a := range annotations {
		if !plainWord.MatchString(a) {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		command += " " + a
	}
	return command
}

// plainWord is a text that a shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9._/:=@%+-]+$`)

// value returns a text as the value of a tag.
func (s Spelling) value(text string) string {
	if s.Value == nil {
		return text
	}
	return s.Value(text)
}

// named are the tags that name an owner's object beside its ID.
func (o Owner) named() map[string]string {
	return map[string]string{TagCluster: o.Cluster, TagNamespace: o.Namespace, TagPool: o.Name}
}

// Tags are the tags that say that a cloud object is the owner's.
func (s Spelling) Tags(o Owner) map[string]string {
	tags := map[string]string{s.Key(TagOwner): s.value(o.ID)}
	for name, text := range o.named() {
		tags[s.Key(name)] = s.value(text)
	}
	return tags
}

// Claim is the result of comparing the tags of a cloud object with one owner. The owner ID alone proves nothing: it is an annotation, which
// every user can set who can write the object, and it can be read from the tags of any group.
type Claim struct {
	// ID is the value of the owner tag; empty without one. Tag is its key.
	ID, Tag string
	// Owned is true if the object is the owner's: the ID agrees, and no other tag names another object.
	Owned bool
	// Differs is set if the ID agrees and other tags name another object: which, and what they would have to be.
	Differs string
	// FormerOwner is set if there is no owner tag, and other tags name another object: which, and what they would have to be.
	FormerOwner string
	// SameName is true if the tags of cluster, namespace and pool are there and name the owner's object, whatever the ID is.
	SameName bool
	// Invited is true if the tag ConsentTag (KEY=VALUE) allows the owner's object to adopt what carries it.
	Invited    bool
	ConsentTag string
	// TakeBack is the command that makes the object the owner's, if its tags have the owner's name and another ID: the pool was applied again
	// without its owner ID. It is empty otherwise.
	TakeBack string
	// TaggedFor is the Key of the object that the tags name.
	TaggedFor string
}

// tagConsent names the object that may adopt what carries it.
const tagConsent = "adopt-by"

// consent returns the tag by which the operator of the account allows the owner's object to adopt a group: NAMESPACE/NAME, or
// NAMESPACE_NAME in a cloud whose values take no slash.
func (s Spelling) consent(o Owner) (key, value string) {
	between := "/"
	if s.Value != nil {
		between = "_"
	}
	return s.Key(tagConsent), s.value(o.Namespace + between + o.Name)
}

// Claim reads the tags of a cloud object; tag returns the value of a tag by its key. A tag of cluster, namespace or pool that is missing
// says nothing: only the operator of the account can remove one, and it is written again. An owner whose cluster is not known any more
// agrees with any.
func (s Spelling) Claim(o Owner, tag func(key string) string) Claim {
	out := Claim{Tag: s.Key(TagOwner), ID: tag(s.Key(TagOwner))}
	object, differs := s.compare(o, tag)
	out.SameName, out.TaggedFor = object == Owner{Cluster: o.Cluster, Namespace: o.Namespace, Name: o.Name}, object.Key()
	key, value := s.consent(o)
	out.Invited, out.ConsentTag = tag(key) == value, key+"="+value
	if out.SameName && out.ID != "" && out.ID != s.value(o.ID) {
		out.TakeBack = o.Annotate("muster.dev/owner-id=" + out.ID)
	}
	switch out.ID {
	case "":
		out.FormerOwner = strings.Join(differs, ", ")
	case s.value(o.ID):
		out.Differs, out.Owned = strings.Join(differs, ", "), len(differs) == 0
	}
	return out
}

// compare returns the object that tags name, in the owner's own words where they agree, and which of them name another one.
func (s Spelling) compare(o Owner, tag func(key string) string) (object Owner, differs []string) {
	for _, part := range []struct {
		name, text string
		into       *string
	}{
		{TagCluster, o.Cluster, &object.Cluster}, {TagNamespace, o.Namespace, &object.Namespace}, {TagPool, o.Name, &object.Name},
	} {
		key := s.Key(part.name)
		is, want := tag(key), s.value(part.text)
		if *part.into = part.text; is == want {
			continue
		}
		if *part.into = is; is != "" && part.text != "" {
			differs = append(differs, fmt.Sprintf("%s is %q and not %q", key, is, want))
		}
	}
	return object, differs
}

// SameID reports whether the object carries the owner's ID, though its other tags may name another object.
func (c Claim) SameID() bool { return c.Owned || c.Differs != "" }

// Named returns the Key of the object that the tags name, if they have the owner's ID; empty otherwise.
func (c Claim) Named() string {
	if !c.SameID() {
		return ""
	}
	return c.TaggedFor
}

// Fact returns, for messages, why the object is not the owner's.
func (c Claim) Fact() string {
	switch {
	case c.Differs != "":
		return "it has this pool's owner ID, and its other tags name another object: " + c.Differs
	case c.ID == "":
		return "its tag " + c.Tag + " is missing"
	}
	return fmt.Sprintf("its tag %s is %q", c.Tag, c.ID)
}

// Claim reads the tags of a cloud object for the owner of the target. For a preview of an adoption one without an owner tag is the
// owner's.
func (t Target[S]) Claim(s Spelling, tag func(key string) string) Claim {
	c := s.Claim(t.Owner, tag)
	c.Owned = c.Owned || c.ID == "" && t.AssumeOwned
	return c
}

// tagValueLimit is the maximum length of the value of a tag, in every cloud that has tags.
const tagValueLimit = 256

// Check returns an error if the owner can't be written into tags: without an ID nothing can be called the pool's.
func (o Owner) Check() error {
	const field = "metadata.annotations[muster.dev/owner-id]"
	switch n := len(o.ID); {
	case n == 0:
		return Invalidf(field, "there is no owner ID: nothing can be called ours without one")
	case n > tagValueLimit:
		return Invalidf(field, "the owner ID has %d characters, and tags of the cloud hold %d at most: "+
			"restore the annotation, or remove it to have another ID written", n, tagValueLimit)
	}
	return nil
}

// Key names the owner's object as cluster/namespace/name.
func (o Owner) Key() string { return o.Cluster + "/" + o.Namespace + "/" + o.Name }

// NamedElsewhere returns the cause of an object whose spec.providerID names a group that is not the pool's. group is the group as messages
// name it, fact the evidence.
func NamedElsewhere(group, fact string) *pool.Cause {
	return &pool.Cause{Reason: ReasonOwnershipConflict, Message: fmt.Sprintf(
		"spec.providerID names %s, which is not this pool's: %s. It is left alone, and no other is created. "+
			"Remove spec.providerID to have one created", group, fact)}
}

// Digest is the beginning of the data's SHA-256, of that many hex digits.
func Digest(data []byte, length int) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:length]
}
