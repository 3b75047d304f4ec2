// Package blobstore is the reference service's own object storage: an [http.Handler] that takes bytes
// at signed addresses, in the form of Azure Blob Storage's block blobs (Put Block, Put Block List, Put
// Blob, Get Block List, with its status codes and XML errors) or as one plain PUT. Bytes are streamed to
// disk; a block list keeps the blocks as they are, so that a commit copies nothing.
//
// The form: https://learn.microsoft.com/rest/api/storageservices/put-block
package blobstore
