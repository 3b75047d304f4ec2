package service

// Protocol is a way in which a page puts bytes into a storage, as its ticket names it (profile, "Files" 3).
type Protocol string

// The protocols that storages ask for.
const (
	AzureBlock   Protocol = "azure-block"
	S3Multipart  Protocol = "s3-multipart"
	GCSResumable Protocol = "gcs-resumable"
	Tus          Protocol = "tus"
	Put          Protocol = "put"
)

// Protocols are all of them.
var Protocols = []Protocol{AzureBlock, S3Multipart, GCSResumable, Tus, Put}
