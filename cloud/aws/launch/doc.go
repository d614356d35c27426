// Package launch is the one reconciliation of EC2 launch templates, for every kind of pool whose machines are launched from one:
// what the specification says is translated and looked up, told apart by the hash of its content, and kept as versions of one
// template that carries our owner tag.
//
// A driver fills in a Source (Managed for a node group of EKS) and keeps one Memory for each pool. Then
//
//   - Pass.Want, after Pass.Read, says what is asked for now: Want.Template goes into pool.Observed.Wanted. Source.FitsIn and Subnets
//     go beside it. For a template that was brought (existing) it is Given.
//   - Pass.Read reads the template slowly, and at once when one of the refs that are handed in is to a version that is not
//     known. Memory.Versions are pool.Observed.Versions, Memory.TemplateOf what an instance was launched from, Pass.RefOf the
//     ref of what a group says, Pass.Differences the fields in which a version differs, for people. Pass.Foreign is an issue,
//     and a reason to make nothing.
//   - Pass.Put, SetDefault, Prune and Delete are the steps PutTemplate, DefaultTemplate, PruneTemplates and DeleteTemplates. The
//     driver makes sure before that the template has been read (Memory.Known) and is not Foreign; after a conflict it calls
//     Memory.Forget.
//   - Pass.Needs, after Pass.Read, names objects in the cluster's bucket that versions point to and that are to be put there again;
//     Pass.Provide does that for those of a step's fields that are objects (IsObject).
//   - Blamed puts fields to what the services refuse.
package launch
