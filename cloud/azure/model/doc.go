// Package model translates an AzureMachinePool into the model of an Azure virtual machine scale set, and reads it back: what the
// scale set and its machines were made of, in which of the object's fields they differ from what is wanted, and what of that
// Azure can change in place, only on new machines, or not at all.
//
// It is pure. A driver reads and writes; it looks up the VM size and remembers the image, and then
//
//   - Build makes a Model of the specification, Fits reports whether the VM size can carry it. Read is what a scale set says about itself,
//     and Model.Onto is the model as it can be put on a scale set that exists, with the fields that can't be changed there.
//   - Model.Create, Change, InPlaceChange and Resize are the bodies of requests. Of these only Create and Resize set the capacity.
//   - Model.Group says of a scale set what it launches and in what it differs, Model.Uniform and Model.Flexible the same of one machine.
//
// What is stale is told by the hash of the content, which is kept in a tag that machines take from their scale set when they
// are made. What can be seen of scale set and machine is compared beside it: for people, and where the tag can't be trusted.
package model
