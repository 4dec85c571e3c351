import { createPrivateKey } from 'node:crypto'

/** Signed by itself, for `other.example`, until 2126. */
const CERTIFICATE = [
  'MIIBiDCCAS2gAwIBAgIUbyl/GR2tmqHMi+qzjyj5ZTsyYvAwCgYIKoZIzj0EAwIwGDEWMBQGA1UEAwwNb3RoZXIuZXhhbXBs',
  'ZTAgFw0yNjExMjgwNDE2MjhaGA8yMTI2MTEwNDA0MTYyOFowGDEWMBQGA1UEAwwNb3RoZXIuZXhhbXBsZTBZMBMGByqGSM49',
  'AgEGCCqGSM49AwEHA0IABCa8/9B38rHQPlplFwzPqcBHAbQM0fLFvDfI1F7ub2hSvxTpMtqZhsysNr9ZRx/iPAXjebMbJn1v',
  'HlI0vhxAS3KjUzBRMB0GA1UdDgQWBBRLhMdgd9R2P5HNTAQdnML0L2a4IjAfBgNVHSMEGDAWgBRLhMdgd9R2P5HNTAQdnML0',
  'L2a4IjAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQD7yBUVWpf5GOpWia+FcGnd4fdOlqYjYm3Z0Uv461Wb',
  'FAIhAJroMfUXWFfVataKXfhzD2nFiQ7PuiumbWARsHcDY2jO',
].join('')

/** A certificate that no client accepts, for servers of tests with TLS. */
export const OWN_CERTIFICATE = {
  cert: `-----BEGIN CERTIFICATE-----\n${CERTIFICATE}\n-----END CERTIFICATE-----`,
  key: createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      x: 'Jrz_0HfysdA-WmUXDM-pwEcBtAzR8sW8N8jUXu5vaFI',
      y: 'vxTpMtqZhsysNr9ZRx_iPAXjebMbJn1vHlI0vhxAS3I',
      d: 'T-bmNYtswM_Vg5yOmMFi7kNBqgdxJqmXqWFZDYsYakU',
    },
  }).export({ format: 'pem', type: 'pkcs8' }),
}
