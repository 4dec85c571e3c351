/** The languages of a booth, by their ISO 639-1 codes. */
export type Language = 'en' | 'es' | 'fr' | 'ko' | 'zh'

/** What stands on a booth besides the sentences about a claim. */
export interface Labels {
  /** Shown when the player points at the booth. */
  readonly claim: string
  /** While the server or the device works. */
  readonly wait: string
  /** Below the image of a captcha. */
  readonly read: string
  readonly send: string
  readonly close: string
  /** Stands before every sentence of a rehearsal. */
  readonly rehearsal: string
}

export const LABELS: Readonly<Record<Language, Labels>> = {
  en: {
    claim: 'Claim your token',
    wait: 'One moment…',
    read: 'What do you read?',
    send: 'Send',
    close: 'Close',
    rehearsal: 'Rehearsal: ',
  },
  es: {
    claim: 'Pida su token',
    wait: 'Un momento…',
    read: '¿Qué lee?',
    send: 'Enviar',
    close: 'Cerrar',
    rehearsal: 'Ensayo: ',
  },
  fr: {
    claim: 'Demander votre jeton',
    wait: 'Un instant…',
    read: 'Que lisez-vous ?',
    send: 'Envoyer',
    close: 'Fermer',
    rehearsal: 'Répétition : ',
  },
  ko: {
    claim: '토큰 받기',
    wait: '잠시만요…',
    read: '무엇이 보이나요?',
    send: '보내기',
    close: '닫기',
    rehearsal: '리허설: ',
  },
  zh: {
    claim: '领取凭证',
    wait: '请稍候…',
    read: '您看到什么？',
    send: '发送',
    close: '关闭',
    rehearsal: '彩排：',
  },
}

/** A sentence in Spanish, French, Korean and Chinese. */
type Translations = readonly [es: string, fr: string, ko: string, zh: string]

const BUSY: Translations = [
  'El servidor está ocupado. Inténtelo de nuevo dentro de un minuto.',
  'Le serveur est occupé. Réessayez dans une minute.',
  '서버가 바쁩니다. 1분 뒤에 다시 시도해 주세요.',
  '服务器正忙。请一分钟后再试。',
]
const NOT_SIGNED: Translations = [
  'Su cliente no firmó bien la petición. Pulse el puesto de nuevo.',
  'Votre client n’a pas bien signé la demande. Cliquez de nouveau sur le stand.',
  '클라이언트가 요청에 올바르게 서명하지 않았습니다. 부스를 다시 눌러 주세요.',
  '您的客户端没有正确签名。请再次点击领取点。',
]
const NEW_CAPTCHA: Translations = [
  'La imagen ya no vale. Pulse el puesto para ver otra.',
  'Cette image n’est plus valable. Cliquez sur le stand pour en voir une autre.',
  '이 그림은 더 이상 쓸 수 없습니다. 부스를 눌러 새 그림을 보세요.',
  '这张图片已失效。请点击领取点换一张。',
]
const NONE_LEFT: Translations = [
  'No quedan tokens de este evento. Pregunte a la organización.',
  'Il n’y a plus de jetons pour cet événement. Demandez à l’organisation.',
  '이 행사의 토큰이 남아 있지 않습니다. 주최자에게 문의해 주세요.',
  '本活动的凭证已发完。请询问主办方。',
]
const NOT_GIVEN: Translations = [
  'Este evento no entrega tokens. Pregunte a la organización.',
  'Cet événement ne donne pas de jetons. Demandez à l’organisation.',
  '이 행사는 토큰을 주지 않습니다. 주최자에게 문의해 주세요.',
  '本活动不发放凭证。请询问主办方。',
]
const TOO_LATE: Translations = [
  'Llega tarde: este evento ya no entrega tokens.',
  'Trop tard : cet événement ne donne plus de jetons.',
  '늦었습니다. 이 행사의 토큰 배포가 끝났습니다.',
  '来晚了：本活动已停止发放凭证。',
]
const REFUSED: Translations = [
  'El servidor no lo permite. Avise a quien construyó la escena.',
  'Le serveur refuse. Prévenez l’auteur de la scène.',
  '서버가 거부했습니다. 씬 제작자에게 알려 주세요.',
  '服务器拒绝了请求。请告知场景的制作者。',
]

/** By the code of a notice. */
export const SENTENCES: Readonly<Record<string, Translations>> = {
  minting: [
    'Se está creando su token. Tarda unos minutos en llegar a su billetera.',
    'Votre jeton est en préparation. Il arrive dans votre portefeuille en quelques minutes.',
    '토큰을 만들고 있습니다. 몇 분 뒤 지갑에 나타납니다.',
    '正在制作您的凭证，几分钟后会出现在您的钱包中。',
  ],
  pending: [
    'Su token está reservado y llegará solo. No tiene que hacer nada.',
    'Votre jeton est réservé et arrivera tout seul. Vous n’avez rien à faire.',
    '토큰이 예약되었으며 저절로 도착합니다. 더 하실 일은 없습니다.',
    '您的凭证已预留，会自动送达，您无需再做什么。',
  ],
  minted: ['El token es suyo.', 'Le jeton est à vous.', '토큰을 받았습니다.', '凭证已归您所有。'],
  rehearsed: [
    'En el evento recibiría ahora un token. Aquí no se creó ninguno.',
    'Lors de l’événement, vous recevriez un jeton. Ici, aucun n’a été créé.',
    '행사에서는 이때 토큰을 받습니다. 지금은 만들지 않았습니다.',
    '在活动中，此时会得到凭证。现在没有制作。',
  ],
  already_claimed: [
    'Ya tiene un token de este evento.',
    'Vous avez déjà un jeton de cet événement.',
    '이 행사의 토큰을 이미 가지고 있습니다.',
    '您已有本活动的凭证。',
  ],
  captcha_required: NEW_CAPTCHA,
  captcha_not_found: NEW_CAPTCHA,
  wrong_captcha: [
    'No es lo que muestra la imagen. Mire de nuevo.',
    'Ce n’est pas ce que montre l’image. Regardez encore.',
    '그림과 다릅니다. 다시 보세요.',
    '与图片不符。请再看一遍。',
  ],
  not_typed: [
    'No ha escrito lo que muestra la imagen. Pulse el puesto para ver otra.',
    'Vous n’avez pas écrit ce que montre l’image. Cliquez sur le stand pour en voir une autre.',
    '그림의 글자를 입력하지 않았습니다. 부스를 눌러 새 그림을 보세요.',
    '您没有输入图片中的字符。请点击领取点换一张。',
  ],
  proof_of_work_required: BUSY,
  too_slow: [
    'Su dispositivo tardó demasiado. Pulse el puesto de nuevo.',
    'Votre appareil a été trop lent. Cliquez de nouveau sur le stand.',
    '기기가 너무 느렸습니다. 부스를 다시 눌러 주세요.',
    '您的设备太慢了。请再次点击领取点。',
  ],
  not_known: [
    'Aún no se conoce su cuenta. Pulse el puesto de nuevo.',
    'Votre compte n’est pas encore connu. Cliquez de nouveau sur le stand.',
    '계정을 아직 알 수 없습니다. 부스를 다시 눌러 주세요.',
    '尚不知道您的账户。请再次点击领取点。',
  ],
  not_connected: [
    'Aún no está conectado a la escena. Inténtelo dentro de unos segundos.',
    'Vous n’êtes pas encore connecté à la scène. Réessayez dans quelques secondes.',
    '아직 씬에 연결되지 않았습니다. 몇 초 뒤에 다시 시도해 주세요.',
    '您尚未连接到场景。请几秒钟后再试。',
  ],
  not_at_event: [
    'No está en el lugar del evento. Vaya allí y espere unos segundos.',
    'Vous n’êtes pas sur le lieu de l’événement. Allez-y et attendez quelques secondes.',
    '행사 장소에 있지 않습니다. 그곳으로 가서 몇 초 기다려 주세요.',
    '您不在活动地点。请前往那里并等待几秒钟。',
  ],
  player_blocked: [
    'La organización no le entrega ningún token de este evento.',
    'L’organisation ne vous donne pas de jeton de cet événement.',
    '주최자가 이 행사의 토큰을 드리지 않습니다.',
    '主办方不向您发放本活动的凭证。',
  ],
  guest_refused: [
    'Juega como invitado. Inicie sesión con una billetera y pídalo de nuevo.',
    'Vous jouez en invité. Connectez-vous avec un portefeuille, puis recommencez.',
    '게스트로 접속 중입니다. 지갑으로 로그인한 뒤 다시 받아 주세요.',
    '您是访客。请用钱包登录后再领取。',
  ],
  grant_required: [
    'Aún no ha ganado este token. Si acaba de ganarlo, inténtelo dentro de un minuto.',
    'Vous n’avez pas encore gagné ce jeton. Si vous venez de le gagner, réessayez dans une minute.',
    '아직 이 토큰을 얻지 못했습니다. 방금 얻었다면 1분 뒤에 다시 시도해 주세요.',
    '您还没有赢得此凭证。如果刚刚赢得，请一分钟后再试。',
  ],
  preview_realm: [
    'Esta escena es una vista previa. Pida un ensayo a la organización o publique la escena.',
    'Cette scène est un aperçu. Demandez une répétition à l’organisation ou publiez la scène.',
    '이 씬은 미리보기입니다. 주최자에게 리허설을 요청하거나 씬을 배포해 주세요.',
    '此场景是预览。请主办方开启彩排，或发布场景。',
  ],
  event_disabled: [
    'La organización ha puesto este evento en pausa. Inténtelo más tarde.',
    'L’organisation a mis cet événement en pause. Réessayez plus tard.',
    '주최자가 이 행사를 잠시 멈췄습니다. 나중에 다시 시도해 주세요.',
    '主办方已暂停本活动。请稍后再试。',
  ],
  event_not_open: [
    'Este evento aún no ha empezado. Vuelva más tarde.',
    'Cet événement n’est pas encore ouvert. Revenez plus tard.',
    '이 행사는 아직 시작되지 않았습니다. 나중에 다시 오세요.',
    '本活动尚未开始。请稍后再来。',
  ],
  event_closed: TOO_LATE,
  event_expired: TOO_LATE,
  event_cancelled: NOT_GIVEN,
  event_refused: NOT_GIVEN,
  no_codes_left: NONE_LEFT,
  no_codes_loaded: NONE_LEFT,
  claim_refused: [
    'No se pudo crear el token y no se gastó nada. Inténtelo más tarde.',
    'Le jeton n’a pas pu être créé et rien n’a été utilisé. Réessayez plus tard.',
    '토큰을 만들지 못했고 아무것도 쓰이지 않았습니다. 나중에 다시 시도해 주세요.',
    '凭证未能制作，也没有消耗任何东西。请稍后再试。',
  ],
  presence_unavailable: [
    'Ahora no se puede comprobar dónde está. Inténtelo dentro de un minuto.',
    'Votre position ne peut pas être vérifiée maintenant. Réessayez dans une minute.',
    '지금은 위치를 확인할 수 없습니다. 1분 뒤에 다시 시도해 주세요.',
    '现在无法确认您的位置。请一分钟后再试。',
  ],
  too_many_requests: [
    'Ha pulsado demasiadas veces. Espere un minuto.',
    'Vous avez cliqué trop souvent. Attendez une minute.',
    '너무 자주 눌렀습니다. 1분 기다려 주세요.',
    '点击过于频繁。请等待一分钟。',
  ],
  not_yet: [
    'Aún no ha funcionado. Pulse el puesto de nuevo dentro de un minuto.',
    'Cela n’a pas encore marché. Cliquez de nouveau sur le stand dans une minute.',
    '아직 되지 않았습니다. 1분 뒤에 부스를 다시 눌러 주세요.',
    '尚未成功。请一分钟后再次点击领取点。',
  ],
  offline: [
    'El servidor no responde o usted no ha iniciado sesión.',
    'Le serveur ne répond pas, ou vous n’êtes pas connecté.',
    '서버가 응답하지 않거나 로그인하지 않았습니다.',
    '服务器没有响应，或者您尚未登录。',
  ],
  event_not_found: [
    'El servidor no conoce este evento. Avise a quien construyó la escena.',
    'Le serveur ne connaît pas cet événement. Prévenez l’auteur de la scène.',
    '서버가 이 행사를 모릅니다. 씬 제작자에게 알려 주세요.',
    '服务器不认识本活动。请告知场景的制作者。',
  ],
  signature_expired: [
    'Compruebe el reloj de su dispositivo o inicie sesión de nuevo.',
    'Vérifiez l’horloge de votre appareil, ou reconnectez-vous.',
    '기기의 시계를 확인하거나 다시 로그인해 주세요.',
    '请检查设备的时钟，或重新登录。',
  ],
  contract_wallet_unsupported: [
    'Su billetera es un contrato. Use una que tenga su propia clave.',
    'Votre portefeuille est un contrat. Utilisez-en un qui a sa propre clé.',
    '컨트랙트 지갑입니다. 자체 키가 있는 지갑을 사용해 주세요.',
    '您的钱包是合约。请使用有自己密钥的钱包。',
  ],
  not_signed: NOT_SIGNED,
  bad_signature: NOT_SIGNED,
  signature_used: NOT_SIGNED,
  wrong_signer: NOT_SIGNED,
  wallet_check_unavailable: BUSY,
  database_unavailable: BUSY,
  server_busy: BUSY,
  event_held: BUSY,
  attendance_not_configured: BUSY,
  request_timeout: BUSY,
  internal_error: BUSY,
  try_later: BUSY,
  invalid_parameter: REFUSED,
  invalid_body: REFUSED,
  body_too_large: REFUSED,
  bad_request: REFUSED,
  expectation_failed: REFUSED,
  header_too_large: REFUSED,
  refused: REFUSED,
}

const POSITIONS = { es: 0, fr: 1, ko: 2, zh: 3 } as const

/**
 * The sentence of a notice in a language: in English the server's own one, which names places and times.
 *
 * @example
 * sentenceIn('fr', { code: 'minted', sentence: 'The token is yours.', isRehearsal: false }) // 'Le jeton est à vous.'
 */
export function sentenceIn(
  language: Language,
  notice: { readonly code: string; readonly sentence: string; readonly isRehearsal: boolean },
): string {
  const words = language === 'en' ? notice.sentence : (SENTENCES[notice.code] ?? REFUSED)[POSITIONS[language]]
  return notice.isRehearsal ? LABELS[language].rehearsal + words : words
}
