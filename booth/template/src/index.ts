import { createBooth } from '@landpass/booth'

export function main() {
  createBooth({
    server: 'https://landpass.example.org',
    event: '6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11',
  })
}
